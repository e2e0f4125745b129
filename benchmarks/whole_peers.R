# Rscript whole_peers.R ranger|glmnet frame.csv k: the selected variables of a frame with response y.
.libPaths(c(Sys.getenv("R_PEERS"), .libPaths()))
arguments <- commandArgs(trailingOnly = TRUE)
frame <- as.data.frame(data.table::fread(arguments[2], stringsAsFactors = TRUE))
if (length(unique(frame$y)) < 10) frame$y <- factor(frame$y)
k <- as.integer(arguments[3])
set.seed(1)
x <- frame[names(frame) != "y"]
if (arguments[1] == "ranger") {
  for (name in names(x)) { # ranger takes no gaps by default
    gaps <- is.na(x[[name]])
    if (any(gaps) && is.numeric(x[[name]])) x[[name]][gaps] <- median(x[[name]], na.rm = TRUE)
  }
  forest <- ranger::ranger(x = x, y = frame$y, importance = "impurity_corrected", num.threads = 2)
  first <- names(sort(forest$variable.importance, decreasing = TRUE))[1:k]
  invisible(ranger::ranger(x = x[first], y = frame$y, num.threads = 2))
} else {
  family <- if (is.factor(frame$y)) "binomial" else "gaussian"
  fitted <- glmnet::cv.glmnet(as.matrix(x), frame$y, family = family)
  weights <- as.matrix(coef(fitted, s = "lambda.1se"))[-1, 1]
  first <- names(weights)[weights != 0]
}
cat(first, "\n")
