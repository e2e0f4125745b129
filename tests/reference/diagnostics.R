# Diagnostics of linear models by R: writes diagnostics.csv beside this script, from survey_data.csv.
# Rscript diagnostics.R    (needs the packages car, MASS and survival)
suppressPackageStartupMessages({library(survival); library(MASS); library(car)})
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
still <- list(epsilon = 1e-14, maxit = 100)
right <- "~ x + g + site"
fits <- list(
  gaussian = lm(as.formula(paste("y", right)), d),
  binomial = glm(as.formula(paste("b", right)), binomial, d, control = still),
  poisson = glm(as.formula(paste("n", right)), poisson, d, control = still),
  weighted = glm(as.formula(paste("y", right)), gaussian, d, weights = d$w / mean(d$w)),
  cox = coxph(as.formula(paste("Surv(time, event)", right)), d, ties = "efron"))
rows <- NULL
for (family in names(fits)) {
  f <- fits[[family]]
  n <- 1:8
  if (family == "cox") {
    change <- residuals(f, "dfbeta")
    cook <- rowSums((change %*% solve(vcov(f))) * change) / length(coef(f))
    found <- list(residual = residuals(f, "deviance")[n], cooks_distance = cook[n])
    zph <- cox.zph(f)$table
    rows <- rbind(rows, data.frame(family, what = "zph", at = rownames(zph), value = zph[, "chisq"]))
  } else {
    found <- list(residual = residuals(f, "deviance")[n], standardised = rstandard(f)[n],
                  leverage = hatvalues(f)[n], cooks_distance = cooks.distance(f)[n])
    if (family == "weighted") found$standardised <- rstandard(f, type = "deviance")[n]
  }
  for (what in names(found))
    rows <- rbind(rows, data.frame(family, what, at = n - 1, value = found[[what]]))
  if (family != "cox") {
    v <- vif(f)
    rows <- rbind(rows, data.frame(family, what = "gvif", at = rownames(v), value = v[, "GVIF"]))
  }
}
write.csv(rows, file.path(here, "diagnostics.csv"), row.names = FALSE, quote = FALSE, na = "")
