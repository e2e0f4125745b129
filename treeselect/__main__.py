"""``python -m treeselect``."""

from treeselect.cli import main

raise SystemExit(main())
