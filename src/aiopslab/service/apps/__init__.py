"""Applications under the module paths of the public AIOpsLab release."""
