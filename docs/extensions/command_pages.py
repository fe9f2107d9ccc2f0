"""The directive `{command} NAME`: the reference of a command, made of what typer really declares.

It shows the text of the command's help, how it is called, all arguments and options, panel by panel as the help does,
and the rules about options that need or exclude each other. A page that is built cannot differ from the command.
"""

import re

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from covey.cli.app import RULES
from covey.cli.app import app as application
from covey.cli.rules import TITLE, stated

FIRST_PANEL = "Options"


def commands():
    """{name: command} of the application."""
    return typer.main.get_command(application).commands


def rules_of(name):
    """The rules about the options of a command."""
    return next(rules for function, rules in RULES.items() if function.__name__ == name)


def parameters(name):
    """The arguments and options of a command, in the order of its help."""
    command = commands()[name]
    context = command.make_context(name, [], resilient_parsing=True, **application.info.context_settings)
    return [param for param in command.get_params(context) if not getattr(param, "hidden", False)]


class Command(Directive):
    required_arguments = 1

    def run(self):
        name = self.arguments[0]
        command, found = commands()[name], parameters(name)
        arguments = [param for param in found if param.param_type_name == "argument"]
        options = [param for param in found if param.param_type_name == "option"]
        usage = " ".join(["covey", name, *map(called, arguments), "[OPTIONS]"])
        made = [nodes.literal_block(usage, usage, language="text")]
        made += self.parse(command.help)
        made += [self.panel("Arguments", arguments)] if arguments else []
        for title in dict.fromkeys(option.rich_help_panel or FIRST_PANEL for option in options):
            made.append(self.panel(title, [o for o in options if (o.rich_help_panel or FIRST_PANEL) == title]))
        rules = stated(rules_of(name))
        return [*made, self.rules(rules)] if rules else made

    def rules(self, sentences):
        section = nodes.section(ids=[nodes.make_id(f"{self.arguments[0]} {TITLE}")], names=[])
        section += nodes.title(TITLE, TITLE)
        # A text that begins with "- `--" is taken for one that begins with metadata between lines of "---".
        section += self.parse("\n".join(f"* {sentence}" for sentence in sentences))
        return section

    def parse(self, text):
        holder = nodes.container()
        self.state.nested_parse(StringList(marked(text).splitlines()), self.content_offset, holder)
        return holder.children

    def panel(self, title, found):
        section = nodes.section(ids=[nodes.make_id(f"{self.arguments[0]} {title}")], names=[])
        section += nodes.title(title, title)
        entries = nodes.definition_list(classes=["options"])
        for param in found:
            entry = nodes.definition_list_item()
            entry += nodes.term("", "", *spelled(param))
            meaning = nodes.definition()
            meaning += self.parse(described(param))
            entry += meaning
            entries += entry
        section += entries
        return section


def marked(text):
    """The text with names of options as code, except on lines that have code already."""
    option = r"(?<![\w-])(--[a-z][\w-]*)"
    return "\n".join(
        line if "`--" in line or "`covey" in line else re.sub(option, r"`\1`", line) for line in text.splitlines()
    )


def called(argument):
    """An argument in the line that shows how a command is called."""
    name = argument.metavar or argument.name.upper()
    several = "..." if argument.nargs != 1 else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def spelled(param):
    """The names of an option and what its value is called, as nodes."""
    if param.param_type_name == "argument":
        return [nodes.literal(text=param.metavar or param.name.upper())]
    names = sorted([*param.opts, *param.secondary_opts], key=lambda name: (not name.startswith("--"), name))
    shown = [node for name in names for node in (nodes.Text(", "), nodes.literal(text=name))][1:]
    return [*shown, *([nodes.Text(" "), nodes.emphasis(text=param.metavar)] if param.metavar else [])]


def described(param):
    """The help of an option, with its default if that says anything."""
    default = param.default
    says = param.param_type_name == "option" and param.show_default and default not in (None, False, "", ())
    shown = getattr(default, "value", default)
    return f"{param.help} Default: `{shown}`." if says and not callable(default) else str(param.help)


def setup(app):
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
