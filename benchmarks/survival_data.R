# R's methods on new rows of the five sets: writes results/survival_data_peers.csv.
#
#     Rscript benchmarks/survival_data.R FOLDER [quick]      (needs survival, glmnet and ranger)
#
# FOLDER has the sets with their folds that `python benchmarks/survival.py --write FOLDER` writes. A
# row per set, repeat, fold and method: columns in the model, Harrell's C of the fold and its
# integrated Brier score, as benchmarks/survival.py has them. A run that was stopped goes on. Missing values are filled by the
# training rows' medians and commonest levels.

arguments <- commandArgs(TRUE)
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[1])),
                 "survival_common.R"))
suppressMessages(library(glmnet))
quick <- "quick" %in% arguments
GRID <- 50

at_times <- function(times, values, first, wanted, left = FALSE)
  c(first, values)[findInterval(wanted, times, left.open = left) + 1]

# Survival of new rows at the times: Breslow's baseline on the training rows.
breslow <- function(train, link, new_link, times) {
  middle <- mean(link)
  when <- sort(unique(train$time[train$event == 1]))
  risk <- exp(link - middle)
  steps <- sapply(when, function(t) sum(train$event[train$time == t]) / sum(risk[train$time >= t]))
  exp(-outer(exp(new_link - middle), at_times(when, cumsum(steps), 0, times)))
}

# Brier scores at the times, each row weighted by the inverse chance of being seen (Graf and others
# 1999; Kaplan-Meier of the censoring of the training rows), integrated by trapezes over their range.
integrated_brier <- function(train, test, survival, times) {
  censoring <- survfit(Surv(train$time, 1 - train$event) ~ 1)
  before <- at_times(censoring$time, censoring$surv, 1, test$time, left = TRUE)
  then <- at_times(censoring$time, censoring$surv, 1, times)
  scores <- sapply(seq_along(times), function(j) {
    died <- test$time <= times[j] & test$event == 1
    alive <- test$time > times[j]
    mean(died * survival[, j]^2 / pmax(before, 1e-9) + alive * (1 - survival[, j])^2 / then[j])
  })
  sum(diff(times) * (head(scores, -1) + tail(scores, -1)) / 2) / diff(range(times))
}

# Risk and survival of the test rows and the columns used, by each method.
by_method <- function(train, test, times, seed) {
  x <- columns(train)
  y <- Surv(train$time, train$event)
  both <- model.matrix(~ ., rbind(x, columns(test)))
  owner <- attr(both, "assign")[-1]
  both <- both[, -1, drop = FALSE]
  old <- seq_len(nrow(train))
  linear <- function(link, n) {
    list(risk = link[-old], survival = breslow(train, link[old], link[-old], times), columns = n)
  }
  set.seed(seed)
  lasso <- cv.glmnet(both[old, ], y, family = "cox", nfolds = 10)
  of_lasso <- function(s) linear(
    as.numeric(predict(lasso, both, s = s)),
    length(unique(owner[as.numeric(coef(lasso, s = s)) != 0]))
  )
  # a constant column of this fold has no coefficient
  fit <- suppressWarnings(coxph(y ~ both[old, ]))
  forest <- ranger(x = x, y = y, num.trees = 200, min.node.size = 15, seed = seed, num.threads = 1,
                   respect.unordered.factors = "order")
  grown <- predict(forest, columns(test), num.threads = 1)
  km <- survfit(y ~ 1)
  list(
    "kaplan-meier" = list(
      risk = numeric(nrow(test)), columns = 0,
      survival = matrix(at_times(km$time, km$surv, 1, times), nrow(test), length(times), byrow = TRUE)
    ),
    "coxph, all" = linear(as.numeric(both %*% ifelse(is.na(coef(fit)), 0, coef(fit))), ncol(x)),
    "lasso, 1se" = of_lasso("lambda.1se"),
    "lasso, min" = of_lasso("lambda.min"),
    "forest, all" = list(
      risk = rowSums(grown$chf), columns = ncol(x),
      survival = t(apply(grown$survival, 1, function(s)
        at_times(grown$unique.death.times, s, 1, times)))
    )
  )
}

one_set <- function(name) {
  rows <- list()
  data <- read.csv(file.path(arguments[1], paste0(name, ".csv")),
                   stringsAsFactors = TRUE, na.strings = "")
  folds <- data[grep("^fold", names(data))]
  data <- data[!grepl("^fold", names(data))]
  ends <- quantile(data$time[data$event == 1], c(0.1, 0.8))
  times <- seq(ends[1], ends[2], length.out = GRID)
  for (round in seq_len(if (quick) 1 else ncol(folds))) for (fold in sort(unique(folds[[round]]))) {
    old <- folds[[round]] != fold
    train <- imputed(data[old, ])
    test <- imputed(data[!old, ], data[old, ])
    found <- by_method(train, test, times, 10 * round + fold)
    for (method in names(found)) rows[[length(rows) + 1]] <- with(found[[method]], data.frame(
      set = name, round = round, fold = fold, method = method, columns = columns,
      C = harrell(test, risk), IBS = integrated_brier(train, test, survival, times)
    ))
  }
  do.call(rbind, rows)
}

rows <- grown_file("survival_data_peers.csv", if (quick) "veteran" else SETS, one_set,
                   function(known) known$set, quick)
print(aggregate(cbind(columns, C, IBS) ~ method + set, rows, mean), digits = 3)
