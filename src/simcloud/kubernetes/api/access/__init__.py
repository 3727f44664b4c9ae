"""Who is asking, and may they? Authentication, authorization and the reviews that explain both."""
