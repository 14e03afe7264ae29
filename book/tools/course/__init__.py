"""Make the course from the chapters: exercises for students and instructors."""
