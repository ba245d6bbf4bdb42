"""How results look: as text, in a notebook, as a pandas frame. Called by the classes of the module."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Iterable, Sequence

from . import _core

if TYPE_CHECKING:
    import pandas

_COLORS = {"forward": "#4477aa", "backward": "#66ccee", "recompute": "#ccbb44", "gradients": "#aa3377", "step": "#aa3377", "weight": "#228833"}
_COMMUNICATION = "#ee6677"
_MOST_DRAWN = 20000  # spans: a browser draws no more with pleasure


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def amount(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def text_table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def html_table(rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    return "<table><thead>" + line(rows[0], "th") + "</thead><tbody>" + "".join(line(row, "td") for row in rows[1:]) + "</tbody></table>"


def _ranking_rows(ranking: _core.Ranking) -> list[list[str]]:
    rows = [["#", "plan", "step", "tokens/s", "MFU", "peak memory", "why not the best"]]
    for number, one in enumerate(ranking.ranked, 1):
        result = one.result
        rows.append([str(number), repr(one.plan)[5:-1], duration(result.step_time), f"{result.tokens_per_second:.0f}", percent(result.mfu),
                     amount(result.peak_memory), one.why_not_best])
    return rows


def ranking_text(ranking: _core.Ranking) -> str:
    if not len(ranking):
        return "No plan is feasible:\n" + "\n".join("  " + line for line in ranking.excluded)
    return text_table(_ranking_rows(ranking)) + "\n" + ranking.proof


def ranking_html(ranking: _core.Ranking) -> str:
    if not len(ranking):
        return "<p>No plan is feasible:</p><ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in ranking.excluded) + "</ul>"
    return html_table(_ranking_rows(ranking)) + f"<p>{html.escape(ranking.proof)}</p>"


def ranking_frame(ranking: _core.Ranking) -> pandas.DataFrame:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("a frame needs pandas: pip install pandas") from error
    rows = []
    for one in ranking.ranked:
        result = one.result
        fields = {name: value for name, value in one.plan.fields().items() if not isinstance(value, list)}
        rows.append({"step_time_seconds": result.step_time, "step_time_low_seconds": result.step_time_low, "step_time_high_seconds": result.step_time_high,
                     "tokens_per_second": result.tokens_per_second, "mfu_ratio": result.mfu, "bubble_ratio": result.bubble,
                     "exposed_communication_ratio": result.exposed_communication, "peak_memory_bytes": result.peak_memory,
                     "out_of_memory_chance_ratio": one.out_of_memory_chance, "why_not_best": one.why_not_best, **fields})
    return pandas.DataFrame(rows)


def _simulation_rows(simulation: _core.Simulation) -> list[list[str]]:
    return [["step", duration(simulation.step_time)], ["four of five between", f"{duration(simulation.step_time_low)} and {duration(simulation.step_time_high)}"],
            ["tokens/s", f"{simulation.tokens_per_second:.0f}"], ["MFU", percent(simulation.mfu)], ["bubble", percent(simulation.bubble)],
            ["exposed communication", percent(simulation.exposed_communication)],
            ["peak memory", amount(simulation.peak_memory) + ("" if simulation.fits else ", which does not fit")]]


def simulation_text(simulation: _core.Simulation) -> str:
    return text_table(_simulation_rows(simulation))


def simulation_html(simulation: _core.Simulation) -> str:
    drawn = timeline_svg(simulation.timeline) if len(simulation.timeline) else ""
    return html_table([["Simulated", ""], *_simulation_rows(simulation)]) + drawn


def check_text(check: _core.Check) -> str:
    lines = [f"{check.now.plan!r}: {'fits' if check.fits else 'does not fit'}, {duration(check.now.result.step_time)} a step"]
    step = check.now.result.step_time or 1.0
    lines += [f"  {name}: {percent(time / step)}" for name, time in check.now.causes.items() if time > 0.001 * step]
    lines += [f"  change {', '.join(one.changed)}: {duration(one.result.step_time)}" for one in check.one_change]
    return "\n".join(lines)


def _comparison_rows(comparison: _core.Comparison) -> list[list[str]]:
    rows = [["per step and rank", "samples", "simulated", "measured", "error", "noise floor"]]
    for row in [comparison.step, *comparison.stages, *comparison.kinds]:
        rows.append([row.name, str(row.samples), duration(row.simulated), duration(row.measured), f"{100 * row.error:+.1f} %", percent(comparison.noise)])
    return rows


def comparison_text(comparison: _core.Comparison) -> str:
    return text_table(_comparison_rows(comparison))


def comparison_html(comparison: _core.Comparison) -> str:
    return html_table(_comparison_rows(comparison))


def timeline_svg(timeline: _core.Timeline) -> str:
    """A row a device: computing above, communication below it."""
    spans = timeline.columns()
    width, row, label = 960, 28, 110
    end = float(spans["end"].max()) if len(timeline) else 0.0
    scale = (width - label) / (end or 1.0)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{row * len(timeline.devices) + 20}" font-family="sans-serif" font-size="11">']
    for position, device in enumerate(timeline.devices):
        ranks = f"rank {device.rank}" + (f" (x{device.ranks})" if device.ranks > 1 else "")
        parts.append(f'<text x="0" y="{position * row + 16}">stage {device.stage}, {ranks}</text>')
    kinds = timeline.kinds()
    shortest = 0.0 if len(timeline) <= _MOST_DRAWN else end / (width - label)   # of many, those that a pixel would show
    for index in range(len(timeline)):
        start, length = float(spans["start"][index]), float(spans["end"][index] - spans["start"][index])
        if length < shortest:
            continue
        moves = bool(spans["moves_data"][index])
        color = _COMMUNICATION if moves else _COLORS[_core.PHASES[spans["phase"][index]]]
        top = int(spans["device"][index]) * row + (15 if moves else 3)
        parts.append(f'<rect x="{label + start * scale:.2f}" y="{top}" width="{max(length * scale, 0.3):.2f}" height="{8 if moves else 12}" fill="{color}">'
                     f"<title>{html.escape(kinds[index])}, {duration(length)}</title></rect>")
    parts.append(f'<text x="{label}" y="{row * len(timeline.devices) + 14}">0</text><text x="{width}" y="{row * len(timeline.devices) + 14}" '
                 f'text-anchor="end">{duration(end)}</text></svg>')
    return "".join(parts)
