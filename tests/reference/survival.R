# What R's survival does: writes survival_data.csv and survival.csv beside this script.
# Rscript survival.R    (needs the package survival)

library(survival)
set.seed(21)
n <- 90
data <- data.frame(stop = sample(1:15, n, TRUE))
data$start <- ifelse(runif(n) < 0.4, -1, floor(runif(n) * data$stop))
data$event <- rbinom(n, 1, 0.6)
data$site <- sample(0:2, n, TRUE)
data$weight <- round(runif(n, 0.2, 3), 2)
data$x <- round(rnorm(n), 3)
data$z <- round(rnorm(n) + 0.5 * data$x, 1)    # ties
write.csv(data, "survival_data.csv", row.names = FALSE, quote = FALSE)

rows <- list()
note <- function(case, figure, values) {
  rows[[length(rows) + 1]] <<- data.frame(
    case = case, figure = figure, place = seq_along(values) - 1, value = sprintf("%.15g", values)
  )
}
cases <- expand.grid(late = c(FALSE, TRUE), site = c(FALSE, TRUE), weight = c(FALSE, TRUE))
for (i in seq_len(nrow(cases))) {
  case <- cases[i, ]
  name <- paste(as.integer(unlist(case)), collapse = "")    # late, strata, weights
  left <- if (case$late) quote(Surv(start, stop, event)) else quote(Surv(stop, event))
  site <- if (case$site) quote(strata(site)) else NULL
  formula <- function(...) {
    right <- Reduce(function(a, b) call("+", a, b), Filter(Negate(is.null), list(...)))
    as.formula(call("~", left, right))
  }
  data$w <- if (case$weight) data$weight else 1
  for (ties in c("efron", "breslow")) {
    still <- coxph.control(iter.max = 0)
    at <- c(0.7, -0.4)
    fit <- coxph(
      formula(quote(x), quote(z), site), data, weights = w, ties = ties, init = at,
      control = still, robust = FALSE
    )
    if (ties == "breslow") {
      hazard <- basehaz(fit, centered = FALSE)
      note(name, "breslow_time", hazard$time)
      note(name, "breslow_hazard", hazard$hazard)
      if (case$site) note(name, "breslow_site", as.integer(hazard$strata) - 1)
      next
    }
    note(name, "loglik", fit$loglik[1])
    note(name, "martingale", residuals(fit, "martingale"))
    note(name, "information", solve(fit$var))
  }
  pairs <- concordance(formula(quote(z), site), data, weights = w, reverse = TRUE)$count
  note(name, "pairs", if (is.matrix(pairs)) colSums(pairs)[1:3] else pairs[1:3])
  if (!case$site) {
    curve <- summary(survfit(
      formula(1), data, weights = w, conf.type = "log-log", robust = FALSE
    ), censored = TRUE)
    for (figure in c("time", "n.risk", "n.event", "n.censor", "surv", "std.err", "lower", "upper"))
      note(name, figure, curve[[figure]])
  }
  if (!case$late && !case$weight)
    note(name, "log_rank", survdiff(formula(quote(z > 0.2), site), data)$chisq)
}

# The integrated Brier score of the others by a model of the first 60 rows, beside one without
# predictors; of rows that end at one time, those with the event are not at risk of censoring.
others <- data[-(1:60), ]
ends <- sort(data$stop[data$event > 0])
times <- seq(ends[1], ends[ceiling(0.9 * length(ends) - 1e-9)], length.out = 100)
seen <- survfit(Surv(stop, event) ~ 1, data[1:60, ])
left <- c(1, cumprod(1 - ifelse(seen$n.censor > 0, seen$n.censor / (seen$n.risk - seen$n.event), 0)))
observed <- function(t) left[findInterval(t, seen$time) + 1]
brier <- function(at) {
  fit <- coxph(Surv(stop, event) ~ x + z, data[1:60, ], init = at, control = still)
  curves <- survfit(fit, newdata = others)
  scores <- sapply(times, function(t) {
    alive <- rbind(1, curves$surv)[findInterval(t, curves$time) + 1, ]
    over <- others$stop <= t & others$event > 0
    mean(ifelse(over, alive^2 / observed(others$stop), (others$stop > t) * (1 - alive)^2 / observed(t)))
  })
  sum(diff(times) * (scores[-1] + scores[-100]) / 2) / diff(range(times))
}
note("000", "split_brier", 1 - brier(c(0.7, -0.4)) / brier(c(0, 0)))
write.csv(do.call(rbind, rows), "survival.csv", row.names = FALSE, quote = FALSE)
