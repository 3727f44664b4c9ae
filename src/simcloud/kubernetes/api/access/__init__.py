"""Authentication, authorization, and the reviews that explain both."""
