"""Plans prepared for a range of sizes and delays, and their choice at each call by the measured delay."""
