"""What a person does to memory by hand."""
