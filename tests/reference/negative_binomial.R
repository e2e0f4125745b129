# Negative binomial regression by MASS: writes negative_binomial.csv beside this script, from survey_data.csv.
# Rscript negative_binomial.R    (needs the package MASS)
suppressPackageStartupMessages(library(MASS))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
d <- read.csv(file.path(here, "survey_data.csv"), stringsAsFactors = TRUE)
still <- glm.control(epsilon = 1e-12, maxit = 200)
f <- glm.nb(w ~ x + g, d, control = still)
test <- anova(glm.nb(w ~ x, d, control = still), f)
rows <- data.frame(what = c(names(coef(f)), "theta", "AIC", "g"),
                   value = c(coef(f), f$theta, AIC(f), test[["Pr(Chi)"]][2]),
                   std_error = c(sqrt(diag(vcov(f))), NA, NA, NA))
write.csv(rows, file.path(here, "negative_binomial.csv"), row.names = FALSE, quote = FALSE, na = "")
