# What R's step() does: writes stepwise_data.csv and stepwise.csv beside this script.
# Rscript stepwise.R    (needs the package nnet)

set.seed(20)
n <- 150
x <- round(matrix(rnorm(n * 5), n, 5), 3)
colnames(x) <- paste0("x", 1:5)
data <- data.frame(x)
data$sum <- round(x[, 1] + x[, 2] + 0.4 * rnorm(n), 3)    # comes first, and goes again
data$site <- sample(c("Bath", "Leeds", "York"), n, TRUE)
data$shade <- sample(c("blue", "green", "red", "white"), n, TRUE)
data$lot <- ifelse(data$site == "York", "a", sample(c("a", "b"), n, TRUE))
eta <- x[, 1] + x[, 2] + 0.4 * x[, 3] + 0.9 * (data$site == "York")
data$number <- round(eta + rnorm(n), 3)
data$two <- as.integer(eta + rlogis(n) > 0)
data$three <- as.integer(cut(eta + rlogis(n), c(-Inf, -0.7, 0.8, Inf))) - 1L
data$log_time <- round(runif(n, -1, 1), 3)
data$count <- rpois(n, exp(0.5 * eta + data$log_time))

names <- c(colnames(x), "sum", "site", "shade", "lot")
fits <- list(
  number = function(f) lm(f, data),
  two = function(f) glm(f, binomial, data, control = list(epsilon = 1e-12)),
  count = function(f) glm(f, poisson, data, control = list(epsilon = 1e-12)),
  timed = function(f) glm(f, poisson, data, offset = log_time, control = list(epsilon = 1e-12)),
  three = function(f) nnet::multinom(f, data, trace = FALSE, reltol = 1e-14, maxit = 1000)
)
full <- reformulate(names)

rows <- list()
for (what in names(fits)) for (criterion in c("aic", "bic")) {
  if (what == "three" && criterion == "bic") next    # add1() of multinom knows no other k than 2
  k <- if (criterion == "aic") 2 else log(n)
  left <- if (what == "timed") "count" else what
  null <- eval(bquote(fits[[what]](.(as.formula(paste(left, "~ 1"))))))
  null$call$formula <- as.formula(paste(left, "~ 1"))
  all <- eval(bquote(fits[[what]](.(reformulate(names, left)))))
  all$call$formula <- reformulate(names, left)
  for (direction in c("forward", "both", "backward")) {
    from <- if (direction == "backward") all else null
    capture.output(found <- step(
      from, scope = list(lower = ~1, upper = full), direction = direction, k = k, trace = 0
    ))
    path <- found$anova
    rows[[length(rows) + 1]] <- data.frame(
      response = what, criterion = criterion, direction = direction,
      moves = paste(gsub("[+]+", "+", gsub(" ", "", path$Step[-1])), collapse = " "),
      terms = paste(sort(attr(terms(found), "term.labels")), collapse = " "),
      values = paste(sprintf("%.6f", path$AIC - extractAIC(null, k = k)[2]), collapse = " ")
    )
  }
}
write.csv(data, "stepwise_data.csv", row.names = FALSE, quote = FALSE)
write.csv(do.call(rbind, rows), "stepwise.csv", row.names = FALSE, quote = FALSE)
