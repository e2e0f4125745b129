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
  l1 = function() { # order of entry
    fit <- glmnet::glmnet(as.matrix(x), y, family = kind, lambda.min.ratio = 0.005)
    weights <- fit$beta
    if (kind == "multinomial") weights <- Reduce(`+`, lapply(weights, abs))
    weights <- abs(as.matrix(weights))
    first <- apply(weights > 0, 1, function(is_in) if (any(is_in)) which(is_in)[1] else Inf)
    size <- ifelse(is.finite(first), weights[cbind(seq_along(first), pmin(first, ncol(weights)))], 0)
    by(size / (1 + max(size)) - first)[seq_len(sum(is.finite(first)))]
  },
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
  VSURF = function() { # prediction, then interpretation, then thresholding
    fit <- VSURF::VSURF(x, y, nfor.thres = 5, ntree.thres = 200, nfor.interp = 5, nfor.pred = 5,
                        parallel = FALSE, verbose = FALSE)
    colnames(x)[unique(c(fit$varselect.pred, fit$varselect.interp, fit$varselect.thres))]
  },
  varselrf = function() { # those dropped last come first; classes only
    fit <- varSelRF::varSelRF(as.matrix(x), y, ntree = 1000, ntreeIterat = 500)
    sets <- lapply(as.character(fit$selec.history$Vars.in.Forest), function(text) {
      strsplit(text, " + ", fixed = TRUE)[[1]]
    })
    steps <- table(factor(unlist(sets), levels = colnames(x)))
    size <- fit$initialImportances[colnames(x), 1]
    by(as.numeric(steps) + rank(size) / (length(size) + 1))
  },
  Boruta = function() { # confirmed, tentative, rejected, each by median importance
    fit <- suppressWarnings(Boruta::Boruta(x, y, maxRuns = 50, num.threads = 1, num.trees = 200))
    value <- Boruta::attStats(fit)
    place <- c(Confirmed = 2, Tentative = 1, Rejected = 0)[as.character(value$decision)]
    by(place * 1e6 + value$medianImp, rownames(value))
  }
)
if (method == "varselrf" && kind == "gaussian") stop("varSelRF takes classes only")
cat(methods[[method]](), sep = "\n")
