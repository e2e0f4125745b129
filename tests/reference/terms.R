# Tests of terms and profile intervals by R: writes terms.csv, glance.csv and intervals.csv beside this script,
# from stepwise_data.csv and survey_data.csv.
# Rscript terms.R    (needs the packages survival, MASS and nnet)
suppressPackageStartupMessages({library(survival); library(MASS); library(nnet)})
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
still <- list(epsilon = 1e-14, maxit = 100)
right <- "~ x + g + x:g"
fits <- list(
  gaussian = lm(as.formula(paste("y", right)), d),
  binomial = glm(as.formula(paste("b", right)), binomial, d, control = still),
  poisson = glm(as.formula(paste("n", right)), poisson, d, control = still),
  cox = coxph(as.formula(paste("Surv(time, event)", right)), d, ties = "efron")
)
plain <- lapply(fits, function(f) update(f, . ~ . - x:g))
rows <- NULL
add <- function(family, test, term, df, deviance, aic, statistic, p)
  rows <<- rbind(rows, data.frame(family, test, term, df, deviance, aic, statistic, p_value = p))
for (family in names(fits)) {
  f <- fits[[family]]
  if (family == "gaussian") {
    a <- anova(f); k <- 1:3
    add(family, "anova", rownames(a)[k], a$Df[k], a$`Sum Sq`[k], NA, a$`F value`[k], a$`Pr(>F)`[k])
  } else if (family == "cox") {
    a <- anova(f); k <- 2:4
    add(family, "anova", rownames(a)[k], a$Df[k], a$Chisq[k], NA, a$Chisq[k], a$`Pr(>|Chi|)`[k])
  } else {
    a <- anova(f, test = "LRT"); k <- 2:4
    add(family, "anova", rownames(a)[k], a$Df[k], a$Deviance[k], NA, a$Deviance[k], a$`Pr(>Chi)`[k])
  }
  for (kind in c("drop1", "drop1 plain")) {
    m <- if (kind == "drop1") f else plain[[family]]
    a <- drop1(m, test = if (family == "gaussian") "F" else "Chisq"); k <- seq_len(nrow(a))[-1]
    last <- a[[ncol(a)]]
    if (family == "gaussian")
      add(family, kind, rownames(a)[k], a$Df[k], a$`Sum of Sq`[k], a$AIC[k], a$`F value`[k], last[k])
    else
      add(family, kind, rownames(a)[k], a$Df[k], a$LRT[k], a$AIC[k], a$LRT[k], last[k])
  }
}
m <- multinom(m ~ x + g, d, trace = FALSE, reltol = 1e-15, abstol = 1e-15, maxit = 1000)
for (term in c("x", "g")) {
  less <- update(m, as.formula(paste(". ~ . -", term)), trace = FALSE)
  lr <- deviance(less) - deviance(m); df <- m$edf - less$edf
  add("multinomial", "drop1 plain", term, df, lr, AIC(less), lr, pchisq(lr, df, lower.tail = FALSE))
}
rows$term <- trimws(rows$term)
write.csv(rows, file.path(here, "terms.csv"), row.names = FALSE)

g <- do.call(rbind, lapply(names(plain), function(family) {
  f <- plain[[family]]
  glm <- inherits(f, "glm") && family != "gaussian"
  data.frame(family, n = nobs(if (family == "cox") plain$gaussian else f),
    events = if (family == "cox") sum(d$event) else if (family == "binomial") sum(d$b) else NA,
    deviance = if (family == "cox") NA else deviance(f),
    null_deviance = if (glm) f$null.deviance else NA,
    log_lik = as.numeric(logLik(f)), aic = AIC(f), bic = BIC(f),
    df_resid = if (family == "cox") NA else df.residual(f))
}))
write.csv(g, file.path(here, "glance.csv"), row.names = FALSE)

# Profile intervals; coxph has none, so that the partial likelihood is profiled by uniroot.
out <- NULL
for (family in c("binomial", "poisson")) {
  ci <- confint(glm(as.formula(paste(if (family == "binomial") "b" else "n", "~ x + g")), family, d,
                    control = still))
  out <- rbind(out, data.frame(family, column = rownames(ci), low = ci[, 1], high = ci[, 2]))
}
X <- model.matrix(~ x + g, d)[, -1]
S <- with(d, Surv(time, event))
top <- coxph(S ~ X)
for (j in 1:3) {
  loss <- function(b) {
    rest <- coxph(S ~ X[, -j] + offset(b * X[, j]), control = coxph.control(eps = 1e-12))
    2 * (top$loglik[2] - rest$loglik[2]) - qchisq(0.95, 1)
  }
  b <- coef(top)[j]; s <- sqrt(diag(vcov(top)))[j]
  out <- rbind(out, data.frame(family = "cox", column = colnames(X)[j],
    low = uniroot(loss, c(b - 5 * s, b), tol = 1e-10)$root,
    high = uniroot(loss, c(b, b + 5 * s), tol = 1e-10)$root))
}
write.csv(out, file.path(here, "intervals.csv"), row.names = FALSE)
