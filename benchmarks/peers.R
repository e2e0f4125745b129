# Rscript peers.R METHOD frame.csv KIND SEED: the columns of a frame with response y, best first.
# KIND is binomial, multinomial or gaussian. Packages are looked up in R_PEERS, too.
.libPaths(c(Sys.getenv("R_PEERS"), .libPaths()))
arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
kind <- arguments[3]
frame <- as.data.frame(data.table::fread(arguments[2], stringsAsFactors = TRUE, nThread = 1))
y <- if (kind == "gaussian") as.numeric(frame$y) else factor(frame$y)
x <- frame[names(frame) != "y"]
set.seed(as.integer(arguments[4]))

by <- function(value, names = colnames(x)) names[order(-value, seq_along(value))]
trees <- 500

importance <- function(forest) { # permutation importance, unscaled
  by(forest$importance[colnames(x), if (kind == "gaussian") "%IncMSE" else "MeanDecreaseAccuracy"])
}

regularized <- function(coefficient) { # the features that were used, by their importance
  fit <- RRF::RRF(x, y, ntree = trees, flagReg = 1, coefReg = coefficient)
  by(fit$importance[, ncol(fit$importance)])[seq_along(fit$feaSet)]
}

methods <- list(
  ranger = function() {
    by(ranger::ranger(x = x, y = y, num.trees = trees, importance = "permutation", num.threads = 1,
                      seed = as.integer(arguments[4]))$variable.importance)
  },
  "ranger corrected" = function() {
    by(ranger::ranger(x = x, y = y, num.trees = trees, importance = "impurity_corrected",
                      num.threads = 1, seed = as.integer(arguments[4]))$variable.importance)
  },
  randomForest = function() {
    importance(randomForest::randomForest(x, y, ntree = trees, importance = TRUE))
  },
  RRF = function() regularized(0.8),
  GRRF = function() { # gamma 0.5
    plain <- RRF::RRF(x, y, ntree = trees, flagReg = 0)$importance
    plain <- plain[, ncol(plain)]
    regularized(0.5 + 0.5 * plain / max(plain))
  },
  varselrf = function() { # those dropped last come first; classes only
    fit <- varSelRF::varSelRF(as.matrix(x), y, ntree = 1000, ntreeIterat = 500)
    sets <- lapply(as.character(fit$selec.history$Vars.in.Forest), function(text) {
      strsplit(text, " + ", fixed = TRUE)[[1]]
    })
    steps <- table(factor(unlist(sets), levels = colnames(x)))
    size <- fit$initialImportances[colnames(x), 1]
    by(as.numeric(steps) + rank(size) / (length(size) + 1))
  }
)
if (method == "varselrf" && kind == "gaussian") stop("varSelRF takes classes only")
cat(methods[[method]](), sep = "\n")
