"""Device logins: a client shows a code, and a signed-in person confirms it in the browser."""
