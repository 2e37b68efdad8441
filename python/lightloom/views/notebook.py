"""Results as HTML, for notebooks: small, escaped, without anything from elsewhere."""
