# The lasso of glmnet and the group lasso of grpreg: writes lasso.csv beside this script, from
# stepwise_data.csv and benchmarks/data/survival/gbsg2.csv.
# Rscript lasso.R    (needs glmnet and grpreg; written by 4.1-6 and 3.6.0)
#
# A row per penalty and term: `spread` is the standard deviation of the term's part of the linear
# predictor. `groups` are x1 and x2, x3 and x4, x5 and sum, orthonormal within the group, since
# grpreg makes them so. glmnet's multinomial fit is the grouped one.

suppressMessages({library(glmnet); library(grpreg)})
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
data <- read.csv(file.path(here, "stepwise_data.csv"))
names <- c("x1", "x2", "x3", "x4", "x5", "sum")
x <- as.matrix(data[names])
n <- nrow(x)
spread_of <- function(part) sqrt(colMeans(sweep(part, 2, colMeans(part))^2))
rows <- list()
note <- function(model, lambda, term, spread)
  rows[[length(rows) + 1]] <<- data.frame(model, lambda = sprintf("%.3g", lambda), term, spread = sprintf("%.12g", spread))
fit <- function(x, y, family, lambda, ...)
  glmnet(x, y, family = family, lambda = c(10, 1, lambda), thresh = 1e-18, maxit = 1e7, ...)

for (lambda in c(0.3, 0.1, 0.03, 0.01)) {
  for (what in c("number", "two", "count")) {
    family <- c(number = "gaussian", two = "binomial", count = "poisson")[[what]]
    b <- as.vector(coef(fit(x, data[[what]], family, lambda), s = lambda))[-1]
    note(what, lambda, names, abs(b) * spread_of(x))
  }
  b <- coef(fit(x, factor(data$three), "multinomial", lambda, type.multinomial = "grouped"), s = lambda)
  b <- sapply(b, function(class) as.vector(class)[-1])
  note("three", lambda, names, spread_of(x) * sqrt(rowSums(sweep(b, 1, rowMeans(b))^2)))
}
gbsg2 <- read.csv(file.path(here, "..", "..", "benchmarks", "data", "survival", "gbsg2.csv"))
numbers <- c("age", "tsize", "pnodes", "progrec", "estrec")
x2 <- as.matrix(gbsg2[numbers])
y <- survival::Surv(gbsg2$time, gbsg2$cens)
for (lambda in c(0.1, 0.03, 0.01)) {
  b <- as.vector(coef(fit(x2, y, "cox", lambda), s = lambda))
  note("times", lambda, numbers, abs(b) * spread_of(x2))
}
pairs <- list(c("x1", "x2"), c("x3", "x4"), c("x5", "sum"))
q <- do.call(cbind, lapply(pairs, function(two) qr.Q(qr(scale(x[, two], scale = FALSE))) * sqrt(n)))
for (lambda in c(0.3, 0.1, 0.03)) for (what in c("number", "two")) {
  family <- c(number = "gaussian", two = "binomial")[[what]]
  found <- grpreg(q, data[[what]], rep(1:3, each = 2), "grLasso", family, lambda = c(1, lambda), eps = 1e-14, max.iter = 1e6)
  b <- matrix(found$beta[-1, 2], 2)
  note(paste("groups,", what), lambda, sapply(pairs, paste, collapse = " "), sqrt(colSums(b^2)))
}
write.csv(do.call(rbind, rows), file.path(here, "lasso.csv"), row.names = FALSE, quote = c(1, 3))
