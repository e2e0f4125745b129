"""``python -m treeselect``."""

from treeselect.cli.main import main

raise SystemExit(main())
