# Firth's logistic regression: writes firth_data.csv (the endometrial cancer data of brglm2, Heinze
# and Schemper 2002) and firth.csv beside this script. Estimates are those of brglm2; tests and
# intervals maximise the penalised likelihood of the whole model with a coefficient fixed.
# Rscript firth.R    (needs the package brglm2)
suppressPackageStartupMessages(library(brglm2))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
data("endometrial", package = "brglm2")
write.csv(endometrial, file.path(here, "firth_data.csv"), row.names = FALSE, quote = FALSE)
fit <- glm(HG ~ NV + PI + EH, binomial, endometrial, method = "brglmFit", type = "AS_mean",
           control = list(epsilon = 1e-12, maxit = 1000))
X <- model.matrix(fit); y <- endometrial$HG
penalised <- function(b) {
  eta <- drop(X %*% b); p <- plogis(eta)
  sum(y * eta - log1p(exp(eta))) + determinant(t(X) %*% (p * (1 - p) * X))$modulus / 2
}
best <- coef(fit); top <- penalised(best)
below <- function(j, at) {
  start <- best[-j]
  f <- function(rest) { b <- best; b[j] <- at; b[-j] <- rest; -penalised(b) }
  for (i in 1:5) start <- optim(start, f, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))$par
  -f(start)
}
limit <- qchisq(.95, 1) / 2
rows <- NULL
for (j in seq_along(best)) {
  se <- sqrt(vcov(fit)[j, j])
  excess <- function(at) top - below(j, at) - limit
  rows <- rbind(rows, data.frame(
    column = names(best)[j], estimate = best[j], std_error = se,
    statistic = 2 * (top - below(j, 0)),
    ci_low = uniroot(excess, c(best[j] - 4 * se, best[j]), tol = 1e-9)$root,
    ci_high = uniroot(excess, c(best[j], best[j] + 6 * se), tol = 1e-9)$root))
}
write.csv(rows, file.path(here, "firth.csv"), row.names = FALSE, quote = FALSE)
print(rows)
