# Selections by R's packages, for peers.py.
#
#   Rscript peers.R METHOD given.csv answer.csv classes|number SEED
#
# given.csv has numbers, text, and the response y. answer.csv has a column `column`, best first, and
# beside it `size`, where there is a set for each of several sizes.

arguments <- commandArgs(TRUE)
method <- arguments[1]
fast <- requireNamespace("data.table", quietly = TRUE)
given <- if (fast) as.data.frame(data.table::fread(arguments[2], nThread = 1)) else
  read.csv(arguments[2])
classes <- arguments[4] == "classes"
set.seed(as.integer(arguments[5]))
X <- given[, names(given) != "y", drop = FALSE]
text <- vapply(X, is.character, TRUE)
X[text] <- lapply(X[text], factor)
y <- if (classes) factor(given$y) else given$y

ranked <- function(values) data.frame(column = names(sort(values, decreasing = TRUE)))

importance_of <- function(model, kind) {
  found <- model$importance
  setNames(found[, kind], rownames(found))
}

above_zero <- function(values) values[values > 0]

answer <- switch(method,
  ranger = ranked(ranger::ranger(
    x = X, y = y, num.trees = 500, importance = "impurity_corrected", num.threads = 1,
    seed = as.integer(arguments[5])
  )$variable.importance),
  randomForest = {
    model <- randomForest::randomForest(X, y, ntree = 500, importance = TRUE)
    ranked(importance_of(model, if (classes) "MeanDecreaseAccuracy" else "%IncMSE"))
  },
  rrf = {
    model <- RRF::RRF(X, y, ntree = 500, flagReg = 1, coefReg = 0.8)
    ranked(above_zero(importance_of(
      model, if (classes) "MeanDecreaseGini" else "IncNodePurity"
    )))
  },
  grrf = {
    kind <- if (classes) "MeanDecreaseGini" else "IncNodePurity"
    plain <- importance_of(RRF::RRF(X, y, ntree = 500, flagReg = 0), kind)
    model <- RRF::RRF(X, y, ntree = 500, flagReg = 1, coefReg = 0.5 + 0.5 * plain / max(plain))
    ranked(above_zero(importance_of(model, kind)))
  },
  varselrf = {
    if (!classes) stop("varSelRF takes classes only")
    found <- varSelRF::varSelRF(X, y, ntree = 500, ntreeIterat = 200, vars.drop.frac = 0.2)
    history <- strsplit(as.character(found$selec.history$Vars.in.Forest), " + ", fixed = TRUE)
    do.call(rbind, lapply(history, function(set) data.frame(size = length(set), column = set)))
  },
  vsurf = {
    found <- VSURF::VSURF(X, y, ntree = 200, nfor.thres = 20, nfor.interp = 10, nfor.pred = 5,
                          parallel = FALSE, verbose = FALSE)
    order <- found$varselect.thres
    rest <- setdiff(seq_along(X), order)
    chosen <- c(found$varselect.pred, setdiff(order, found$varselect.pred), rest)
    data.frame(column = names(X)[chosen])
  },
  boruta = {
    found <- Boruta::Boruta(X, y, maxRuns = 50, num.threads = 1)
    history <- found$ImpHistory[, names(X), drop = FALSE]
    history[!is.finite(history)] <- NA
    means <- colMeans(history, na.rm = TRUE)
    means[is.na(means)] <- min(means, na.rm = TRUE)
    decided <- c(Rejected = 0, Tentative = 1, Confirmed = 2)[as.character(found$finalDecision)]
    data.frame(column = names(X)[order(-decided, -means)])
  },
  stop("no method is called ", method)
)
write.csv(answer, arguments[3], row.names = FALSE)
