"""Events from other systems: receives them, and starts or proposes the skills that declare their type."""
