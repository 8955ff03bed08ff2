"""What a request carries: its blocks, its bounds, and what is summarised when it grows too long."""
