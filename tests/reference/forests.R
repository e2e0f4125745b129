# Forests and Boruta by R: writes forests.csv, forests_ranks.csv and boruta.csv beside this script,
# from stepwise_data.csv.
# Rscript forests.R    (needs ranger, randomForest and Boruta; written by 0.14.1, 4.7-1.1 and 8.0.0)
#
# Thirty forests of 500 trees for each response and package: the out-of-bag score (area under the
# ROC curve, or R squared), and the total decrease in impurity of each column relative to the
# largest one. forests_ranks.csv has the out-of-bag R squared of 60 forests by ranger, on the columns
# and on their ranks. Twenty runs of Boruta with its defaults; what it decides of each column.

suppressMessages({library(ranger); library(randomForest); library(Boruta)})
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1]))
data <- read.csv(file.path(here, "stepwise_data.csv"))
names <- c("x1", "x2", "x3", "x4", "x5", "sum")
auc <- function(y, p) (sum(rank(p)[y == 1]) - sum(y) * (sum(y) + 1) / 2) / (sum(y) * sum(1 - y))
r2 <- function(y, p) 1 - sum((y - p)^2) / sum((y - mean(y))^2)

rows <- list()
note <- function(package, response, seed, score, importance) {
  rows[[length(rows) + 1]] <<- data.frame(
    package, response, seed, figure = c("score", names),
    value = sprintf("%.6g", c(score, importance[names] / max(importance)))
  )
}
for (seed in 1:30) for (response in c("two", "number")) {
  is_two <- response == "two"
  y <- data[[response]]
  set.seed(seed)
  found <- ranger(x = data[names], y = if (is_two) factor(y) else y, num.trees = 500, mtry = 2,
                  min.node.size = 1, probability = is_two, importance = "impurity", seed = seed, num.threads = 1)
  p <- found$predictions
  note("ranger", response, seed, if (is_two) auc(y, p[, "1"]) else r2(y, p), found$variable.importance)
  found <- randomForest(data[names], if (is_two) factor(y) else y, ntree = 500, mtry = 2, nodesize = 1)
  p <- if (is_two) found$votes[, "1"] else found$predicted
  note("randomForest", response, seed, if (is_two) auc(y, p) else r2(y, p), found$importance[, 1])
}
write.csv(do.call(rbind, rows), file.path(here, "forests.csv"), row.names = FALSE, quote = FALSE)

ranks <- as.data.frame(lapply(data[names], function(x) as.numeric(factor(x))))
score <- function(x, seed) {
  found <- ranger(x = x, y = data$number, num.trees = 500, mtry = 2, min.node.size = 1, seed = seed, num.threads = 1)
  sprintf("%.6g", r2(data$number, found$predictions))
}
both <- data.frame(seed = 1:60)
both$values <- sapply(both$seed, function(seed) score(data[names], seed))
both$ranks <- sapply(both$seed, function(seed) score(ranks, seed))
write.csv(both, file.path(here, "forests_ranks.csv"), row.names = FALSE, quote = FALSE)

rows <- list()
all <- c(names, "site", "shade", "lot")
for (factor in c("site", "shade", "lot")) data[[factor]] <- factor(data[[factor]])
for (seed in 1:20) for (response in c("two", "number")) {
  set.seed(seed)
  y <- data[[response]]
  found <- Boruta(data[all], if (response == "two") factor(y) else y, num.threads = 1)
  rows[[length(rows) + 1]] <- data.frame(
    response, seed, term = all, decision = tolower(as.character(found$finalDecision[all]))
  )
}
write.csv(do.call(rbind, rows), file.path(here, "boruta.csv"), row.names = FALSE, quote = FALSE)
