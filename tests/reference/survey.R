# Linearised standard errors under sampling weights: R's survey, without and with clusters.
# Rscript tests/reference/survey.R, in the folder of the repository; writes survey_data.csv and
# survey.csv beside this file.
suppressPackageStartupMessages({library(survey); library(survival)})
set.seed(24)
n <- 120
d <- data.frame(x = round(rnorm(n), 3), g = sample(c("a", "b", "c"), n, TRUE),
                site = rep(1:24, each = 5), w = sample(5:60, n, TRUE))
d$g[1] <- "a"
eta <- 0.5 * d$x + 0.4 * (d$g == "b")
d$y <- round(eta + rnorm(n), 3)
d$b <- rbinom(n, 1, plogis(eta))
d$n <- rpois(n, exp(0.3 * eta))
d$time <- round(rexp(n, exp(eta)), 3) + 0.001
d$event <- rbinom(n, 1, 0.7)
d$m <- c("l", "m", "r")[1 + rbinom(n, 2, plogis(eta))]
write.csv(d, "tests/reference/survey_data.csv", row.names = FALSE)
out <- NULL
add <- function(family, kind, estimate, error, df)
  out <<- rbind(out, data.frame(family, kind, column = names(estimate),
                                estimate = unname(estimate), std_error = unname(error), df))
designs <- list(rows = svydesign(~1, weights = ~w, data = d),
                sites = svydesign(~site, weights = ~w, data = d))
for (kind in names(designs)) {
  des <- designs[[kind]]
  fits <- list(gaussian = svyglm(y ~ x + g, des),
               binomial = suppressWarnings(svyglm(b ~ x + g, des, family = binomial)),
               poisson = svyglm(n ~ x + g, des, family = poisson),
               cox = svycoxph(Surv(time, event) ~ x + g, des))
  for (family in names(fits)) {
    f <- fits[[family]]
    add(family, kind, coef(f), sqrt(diag(vcov(f))),
        if (family == "cox") NA else f$df.residual)
  }
  # svyolr and svyVGAM aside, survey has no multinomial logit: its scores by hand.
  X <- model.matrix(~ x + g, d); Y <- model.matrix(~ m - 1, d); w <- d$w / mean(d$w)
  share <- function(par) {
    e <- cbind(1, exp(X %*% matrix(par, ncol = 2))); e / rowSums(e)
  }
  par <- rep(0, 8)
  for (step in 1:30) {
    P <- share(par)
    S <- do.call(cbind, lapply(2:3, function(j) w * (Y[, j] - P[, j]) * X))
    H <- do.call(rbind, lapply(2:3, function(j) do.call(cbind, lapply(2:3, function(k)
      t(X) %*% (w * P[, j] * ((j == k) - P[, k]) * X)))))
    par <- par + solve(H, colSums(S))
  }
  unit <- if (kind == "rows") seq_len(n) else d$site
  total <- rowsum(S, unit); G <- nrow(total)
  V <- solve(H) %*% crossprod(total) %*% solve(H) * G / (G - 1)
  names(par) <- paste0(rep(c("m: ", "r: "), each = 4), colnames(X))
  add("multinomial", kind, par, sqrt(diag(V)), NA)
}
write.csv(out, "tests/reference/survey.csv", row.names = FALSE)
