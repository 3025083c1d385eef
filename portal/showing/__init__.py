"""What turns skills, versions and runs into what a page shows; views call it, templates draw it."""
