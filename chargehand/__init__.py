"""The face of Chargehand: what a person or a service uses to hand in work and read reports."""
