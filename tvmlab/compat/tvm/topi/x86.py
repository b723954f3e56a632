"""Schedules for x86 by their old names."""

from .generic import default_schedule, schedule_injective

__all__ = ["default_schedule", "schedule_injective"]
