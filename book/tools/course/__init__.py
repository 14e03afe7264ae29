"""Make the course from the chapters: their exercises as notebooks for students and instructors."""
