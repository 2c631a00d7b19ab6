"""What agents propose, may do by themselves, and left alone; one noun per file."""

from agents.models.approval import Approval, ApprovalState
from agents.models.autonomy import AutonomyPolicy, Mode
from agents.models.override import Override
from agents.models.recommendation import DeclineReason, Recommendation, RecommendationState
from agents.models.sweep import SweepRun, Verdict
from agents.models.turn import Turn, TurnState

__all__ = [
    "Approval",
    "ApprovalState",
    "AutonomyPolicy",
    "DeclineReason",
    "Mode",
    "Override",
    "Recommendation",
    "RecommendationState",
    "SweepRun",
    "Turn",
    "TurnState",
    "Verdict",
]
