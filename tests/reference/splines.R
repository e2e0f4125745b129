# Restricted cubic splines by R's rms: writes splines.csv beside this script, from survey_data.csv.
# Rscript splines.R    (needs the packages rms and survival)
suppressPackageStartupMessages({library(rms); library(survival)})
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
at <- quantile(d$x, c(.05, .35, .65, .95), type = 1)
basis <- rcs(d$x, at)
for (k in 1:3) d[[paste0("x", k)]] <- as.numeric(basis[, k])
still <- list(epsilon = 1e-14, maxit = 100)
bent <- "~ x1 + x2 + x3 + g"
straight <- "~ x1 + g"
fit <- function(family, right) switch(family,
  gaussian = lm(as.formula(paste("y", right)), d),
  binomial = glm(as.formula(paste("b", right)), binomial, d, control = still),
  poisson = glm(as.formula(paste("n", right)), poisson, d, control = still),
  cox = coxph(as.formula(paste("Surv(time, event)", right)), d, ties = "efron"))
rows <- NULL
for (family in c("gaussian", "binomial", "poisson", "cox")) {
  f <- fit(family, bent)
  own <- c("x1", "x2", "x3")
  q <- c(quantile(d$x, .25, type = 1), -quantile(-d$x, .25, type = 1))  # mirrored
  step <- as.numeric(diff(matrix(rcspline.eval(q, at, inclx = TRUE), 2)))
  test <- anova(fit(family, straight), f, test = if (family == "gaussian") "F" else "Chisq")
  rows <- rbind(rows, data.frame(
    family, what = c("x", "x'", "x''", "quartiles", "nonlinear"),
    estimate = c(coef(f)[own], sum(step * coef(f)[own]), NA),
    std_error = c(sqrt(diag(vcov(f)))[own], sqrt(drop(step %*% vcov(f)[own, own] %*% step)), NA),
    p_value = c(rep(NA, 4), test[[ncol(test)]][2])))
}
write.csv(rows, file.path(here, "splines.csv"), row.names = FALSE, quote = FALSE, na = "")
