# Proportional odds models by R's MASS: writes ordinal.csv beside this script, from survey_data.csv.
# Rscript ordinal.R    (needs the package MASS)
suppressPackageStartupMessages(library(MASS))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
d$o <- factor(pmin(d$w %/% 9, 4))
rows <- NULL
for (kind in c("plain", "weighted")) {
  weight <- if (kind == "plain") rep(1, nrow(d)) else 1 + seq_len(nrow(d)) %% 3
  d$weight <- weight
  fit <- polr(o ~ x + g, d, weights = weight, Hess = TRUE, method = "logistic",
              control = list(reltol = 1e-16, maxit = 1000))
  se <- sqrt(diag(vcov(fit)))
  ends <- matrix(NA, length(coef(fit)), 2)
  if (kind == "plain") ends <- suppressMessages(confint(fit))
  rows <- rbind(rows,
    data.frame(kind, column = names(coef(fit)), estimate = coef(fit), std_error = se[names(coef(fit))],
               ci_low = ends[, 1], ci_high = ends[, 2]),
    data.frame(kind, column = names(fit$zeta), estimate = fit$zeta, std_error = se[names(fit$zeta)],
               ci_low = NA, ci_high = NA),
    data.frame(kind, column = c("logLik", "AIC"), estimate = c(logLik(fit), AIC(fit)), std_error = NA,
               ci_low = NA, ci_high = NA))
  p <- predict(fit, d[1:4, ], type = "probs")
  rows <- rbind(rows, data.frame(kind, column = paste0("p", rep(0:3, ncol(p)), "_", rep(colnames(p), each = 4)),
                                 estimate = as.numeric(p), std_error = NA, ci_low = NA, ci_high = NA))
}
write.csv(rows, file.path(here, "ordinal.csv"), row.names = FALSE, quote = FALSE, na = "")
