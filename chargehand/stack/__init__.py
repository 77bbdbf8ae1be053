"""The local stack: what `chargehand up` and the one-shot commands start on one machine."""
