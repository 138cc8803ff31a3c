"""The sketch model: reads a prompt into a scene, and draws the scene with Pillow."""
