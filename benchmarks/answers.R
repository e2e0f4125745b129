# Rscript answers.R METHOD frame.csv KIND SEED: the columns that a program in R selects with a size
# of its own. The frame has numbers only and the response y, or time and status (KIND survival).
# Packages are looked up in R_PEERS, too.
.libPaths(c(Sys.getenv("R_PEERS"), .libPaths()))
arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
kind <- arguments[3]
frame <- read.csv(arguments[2])
set.seed(as.integer(arguments[4]))
x <- as.matrix(frame[setdiff(names(frame), c("y", "time", "status"))])
y <- switch(kind, survival = survival::Surv(pmax(frame$time, 1e-6), frame$status),
            multinomial = factor(frame$y), as.numeric(frame$y))
family <- if (kind == "survival") "cox" else kind

lasso <- function(rule, relax) {
  fit <- glmnet::cv.glmnet(x, y, family = family, relax = relax)
  found <- if (relax) coef(fit, s = rule, gamma = sub("lambda", "gamma", rule)) else coef(fit, s = rule)
  if (!is.list(found)) found <- list(found)
  in_one <- Reduce(`+`, lapply(found, function(b) abs(as.matrix(b)[colnames(x), 1])))
  colnames(x)[in_one > 0]
}

methods <- list(
  "glmnet 1se" = function() lasso("lambda.1se", FALSE),
  "glmnet min" = function() lasso("lambda.min", FALSE),
  "glmnet relaxed 1se" = function() lasso("lambda.1se", TRUE),
  "step AIC" = function() { # both directions, from no terms; columns that others tell are left out
    independent <- qr(cbind(1, x))
    kept <- setdiff(independent$pivot[seq_len(independent$rank)] - 1, 0)
    data <- data.frame(x[, kept, drop = FALSE])
    data$y <- y
    upper <- reformulate(colnames(x)[kept])
    fit <- switch(kind,
      survival = survival::coxph(y ~ 1, data = data),
      gaussian = lm(y ~ 1, data = data),
      suppressWarnings(glm(y ~ 1, family = kind, data = data)))
    fit <- suppressWarnings(step(fit, scope = list(lower = ~1, upper = upper), trace = 0))
    attr(terms(fit), "term.labels")
  },
  projpred = function() { # horseshoe, projection along the lasso path, size as suggested
    data <- data.frame(x, y = y)
    fit <- suppressWarnings(rstanarm::stan_glm(
      y ~ ., data = data, family = if (kind == "gaussian") gaussian() else binomial(),
      prior = rstanarm::hs(), chains = 2, iter = 800, cores = 1, refresh = 0,
      seed = as.integer(arguments[4])))
    search <- suppressWarnings(projpred::cv_varsel(
      fit, method = "L1", cv_method = "LOO", validate_search = FALSE, verbose = FALSE,
      nterms_max = min(20, ncol(x)), seed = as.integer(arguments[4])))
    projpred::solution_terms(search)[seq_len(projpred::suggest_size(search))]
  },
  VSURF = function() { # the set for prediction
    fit <- VSURF::VSURF(x, if (kind == "gaussian") y else factor(y), verbose = FALSE)
    colnames(x)[fit$varselect.pred]
  }
)
cat(methods[[method]](), sep = "\n")
