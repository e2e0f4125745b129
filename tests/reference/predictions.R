# Predictions of linear models by R, with standard errors and intervals: writes predictions.csv and
# ordered.csv (coefficients with an ordered factor) beside this script.
# Rscript predictions.R    (needs the packages nnet and survival; reads stepwise_data.csv and
# survival_data.csv)
#
# Models are fitted to all rows but every seventh, which are predicted. R says no standard errors
# for multinom: they are taken here from vcov() by numerical derivatives. coxph is told to centre
# all columns (nocenter = NULL), and its standard error of the risk is the delta method's, as
# predict.coxph() multiplies by the square root of the risk instead.

suppressMessages(library(survival))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
data <- read.csv(file.path(here, "stepwise_data.csv"), stringsAsFactors = TRUE)
levels <- c("low", "middle", "high", "top")
data$grade <- cut(data$x2, c(-Inf, -0.7, 0, 0.7, Inf), levels, ordered_result = TRUE)
data$w <- 1 + seq_len(nrow(data)) %% 3
is_new <- seq_len(nrow(data)) %% 7 == 0
old <- data[!is_new, ]; new <- data[is_new, ]
still <- list(epsilon = 1e-14, maxit = 100)
right <- "x1 + poly(x3, 2) + site"
with_right <- function(left) as.formula(paste(left, "~", right))
rows <- list()
add <- function(model, type, row, fit, se, low, high) {
  rows[[length(rows) + 1]] <<- data.frame(model, type, row = as.integer(row), fit, se, low, high)
}

number <- lm(with_right("number"), old)
weighted <- lm(with_right("number"), old, weights = w / mean(w))
for (name in c("number", "weighted")) {
  fit <- get(name)
  for (kind in c("confidence", "prediction")) {
    found <- suppressWarnings(predict(fit, new, se.fit = TRUE, interval = kind, level = 0.9))
    add(name, kind, row.names(new), found$fit[, 1], found$se.fit, found$fit[, 2], found$fit[, 3])
  }
}
glms <- list(
  two = glm(with_right("two"), binomial, old, control = still),
  count = glm(with_right("count"), quasipoisson, old, control = still),
  timed = glm(count ~ x1 + poly(x3, 2) + site + offset(log_time), quasipoisson, old, control = still)
)
for (name in names(glms)) {
  fit <- glms[[name]]
  link <- predict(fit, new, se.fit = TRUE)
  z <- if (name == "two") qnorm(0.95) else qt(0.95, fit$df.residual)
  low <- link$fit - z * link$se.fit; high <- link$fit + z * link$se.fit
  add(name, "link", row.names(new), link$fit, link$se.fit, low, high)
  mean <- predict(fit, new, type = "response", se.fit = TRUE)
  back <- fit$family$linkinv
  add(name, "response", row.names(new), mean$fit, mean$se.fit, back(low), back(high))
}

three <- nnet::multinom(three ~ x1 + x3 + site, old, trace = FALSE, reltol = 1e-15, abstol = 1e-15,
                        maxit = 1000)
matrix <- model.matrix(~ x1 + x3 + site, new)
beta <- c(t(coef(three))); covariance <- vcov(three)
shares <- function(b) {
  eta <- cbind(0, matrix %*% matrix(b, ncol(matrix)))
  exp(eta) / rowSums(exp(eta))
}
stopifnot(max(abs(shares(beta) - predict(three, new, type = "probs"))) < 1e-8)
jacobian <- function(f) {
  sapply(seq_along(beta), function(j) {
    step <- replace(numeric(length(beta)), j, 1e-5)
    c(f(beta + step) - f(beta - step)) / 2e-5
  })
}
errors <- function(f) { own <- jacobian(f); sqrt(rowSums((own %*% covariance) * own)) }
p <- c(shares(beta)); z <- qnorm(0.95)
each <- rep(row.names(new), ncol(shares(beta)))
class <- rep(seq_len(ncol(shares(beta))), each = nrow(new))
half <- z * errors(function(b) qlogis(shares(b)))
log_se <- errors(function(b) log(shares(b)))
for (k in unique(class)) {
  own <- class == k
  add(paste("three", k), "response", each[own], p[own], errors(shares)[own],
      plogis(qlogis(p) - half)[own], plogis(qlogis(p) + half)[own])
  add(paste("three", k), "link", each[own], log(p)[own], log_se[own], (log(p) - z * log_se)[own],
      (log(p) + z * log_se)[own])
}

times <- read.csv(file.path(here, "survival_data.csv"))
times$place <- factor(c("a", "b", "c"))[1 + seq_len(nrow(times)) %% 3]
is_new <- seq_len(nrow(times)) %% 7 == 0
cox <- coxph(Surv(stop, event) ~ x + z + place, times[!is_new, ], nocenter = NULL)
new <- times[is_new, ]
found <- predict(cox, new, type = "lp", se.fit = TRUE, reference = "sample")
low <- found$fit - z * found$se.fit; high <- found$fit + z * found$se.fit
add("cox", "link", row.names(new), found$fit, found$se.fit, low, high)
add("cox", "response", row.names(new), exp(found$fit), exp(found$fit) * found$se.fit, exp(low), exp(high))
curves <- survfit(cox, new, se.fit = FALSE)
for (time in c(3, 6)) {
  survival <- summary(curves, times = time)$surv
  add("cox", paste("survival", time), row.names(new), c(survival), NA, NA, NA)
}

all <- do.call(rbind, rows)
numeric <- sapply(all, is.double)
all[numeric] <- lapply(all[numeric], function(x) ifelse(is.na(x), "", sprintf("%.12g", x)))
write.csv(all, file.path(here, "predictions.csv"), row.names = FALSE, quote = FALSE)

data$score <- as.numeric(data$grade)
fits <- list(
  treatment = lm(number ~ x1 + grade, data, contrasts = list(grade = "contr.treatment")),
  scores = lm(number ~ x1 + score, data),
  polynomial = lm(number ~ x1 + grade, data),
  crossed = lm(number ~ x1 * grade, data)
)
ordered <- do.call(rbind, lapply(names(fits), function(name) {
  found <- summary(fits[[name]])$coefficients
  data.frame(model = name, term = rownames(found), estimate = found[, 1], std_error = found[, 2])
}))
ordered[3:4] <- lapply(ordered[3:4], function(x) sprintf("%.12g", x))
write.csv(ordered, file.path(here, "ordered.csv"), row.names = FALSE, quote = FALSE)
