process.stdout.write("Usage: tributary <command> [--data DIR] [--json]\n");
