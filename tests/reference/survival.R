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
write.csv(do.call(rbind, rows), "survival.csv", row.names = FALSE, quote = FALSE)
