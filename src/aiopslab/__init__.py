"""AIOpsLab in a box: a whole cloud in one Python process, to build and judge the agents that operate it."""
