# Linear models by R: writes glm.csv beside this script, from stepwise_data.csv.
# Rscript glm.R    (needs the package nnet)
#
# Whole-number weights are copies of rows in treeselect: the model `copies` is fitted to the rows
# of `number`, each as often as 1 + (row mod 3) says, and `precision` to the same weights given to
# lm(), which takes them for inverse variances. Without the offset, the counts vary more than chance
# allows: treeselect then fits the quasi-Poisson model.

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
data <- read.csv(file.path(here, "stepwise_data.csv"), stringsAsFactors = TRUE)
data$w <- 1 + seq_len(nrow(data)) %% 3
copies <- data[rep(seq_len(nrow(data)), data$w), ]
still <- list(epsilon = 1e-14, maxit = 100)
right <- "x1 + x2 + x3 + site"
with_right <- function(left) as.formula(paste(left, "~", right))
fits <- list(
  number = lm(with_right("number"), data),
  copies = lm(with_right("number"), copies),
  precision = lm(with_right("number"), data, weights = w),
  two = glm(with_right("two"), binomial, data, control = still),
  count = glm(with_right("count"), quasipoisson, data, control = still),
  timed = glm(with_right("count"), poisson, data, offset = log_time, control = still)
)
rows <- lapply(names(fits), function(name) {
  found <- summary(fits[[name]])$coefficients
  data.frame(model = name, term = rownames(found), estimate = found[, 1], std_error = found[, 2],
             statistic = found[, 3], p_value = found[, 4])
})
three <- nnet::multinom(with_right("three"), data, trace = FALSE, reltol = 1e-15, abstol = 1e-15, maxit = 1000)
found <- summary(three)
for (class in rownames(found$coefficients)) {
  b <- found$coefficients[class, ]; s <- found$standard.errors[class, ]
  rows[[length(rows) + 1]] <- data.frame(
    model = paste("three", class), term = names(b), estimate = b, std_error = s, statistic = b / s,
    p_value = 2 * pnorm(-abs(b / s))
  )
}
all <- do.call(rbind, rows)
numeric <- sapply(all, is.double)
all[numeric] <- lapply(all[numeric], function(x) sprintf("%.12g", x))
write.csv(all, file.path(here, "glm.csv"), row.names = FALSE, quote = FALSE)
