from agents.models.autonomy import AutonomyPolicy, Mode
from agents.models.recommendation import Recommendation, RecommendationState
from agents.models.sweep import SweepRun, Verdict

__all__ = [
    "AutonomyPolicy",
    "Mode",
    "Recommendation",
    "RecommendationState",
    "SweepRun",
    "Verdict",
]
