"""What several chapters share: findings, figures, tables, the papers' tables."""
