"""Plans jobs, publishes their steps, joins the outcomes and delivers one report."""
