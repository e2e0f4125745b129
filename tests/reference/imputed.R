# What mice's pool() does: writes imputed_data.csv and imputed.csv beside this script.
# Rscript imputed.R    (needs the package mice; written by 3.15.0)

library(mice)
set.seed(8)
n <- 60
x <- round(rnorm(n), 2)
z <- round(0.6 * x + rnorm(n), 2)
site <- factor(sample(c("Bath", "Leeds", "York"), n, TRUE))
eta <- 0.8 * x - 0.5 * z + 0.7 * (site == "York")
data <- data.frame(
  x, z, site,
  number = round(eta + rnorm(n), 2),
  two = as.integer(eta + rlogis(n) > 0),
  count = rpois(n, exp(0.5 * eta))
)
data$x[sample(n, 20)] <- NA
data$site[sample(n, 9)] <- NA
data$number[sample(n, 6)] <- NA

imputed <- mice(data, m = 4, maxit = 5, seed = 3, printFlag = FALSE)
fits <- list(
  number = with(imputed, lm(number ~ x + z + site)),
  two = with(imputed, glm(two ~ x + z + site, binomial, control = list(epsilon = 1e-14))),
  count = with(imputed, glm(count ~ x + z + site, poisson, control = list(epsilon = 1e-14)))
)
# The tests of generalised linear models of complete data are normal ones.
pooled <- do.call(rbind, lapply(names(fits), function(name) {
  complete <- if (name == "number") NULL else Inf
  found <- summary(pool(fits[[name]], dfcom = complete), "all", conf.int = TRUE)
  cbind(response = name, found[c(
    "term", "estimate", "std.error", "statistic", "df", "p.value", "2.5 %", "97.5 %", "riv", "fmi"
  )])
}))
pooled$term <- sub("site", "site ", pooled$term)
names(pooled) <- gsub("[.]", "_", names(pooled))
numbers <- sapply(pooled, is.numeric)
pooled[numbers] <- lapply(pooled[numbers], format, digits = 10, trim = TRUE)
write.csv(complete(imputed, "long"), "imputed_data.csv", row.names = FALSE, quote = FALSE)
write.csv(pooled, "imputed.csv", row.names = FALSE, quote = FALSE)
