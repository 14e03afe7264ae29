"""Make wrong solutions of a right one: one operator, number, name, condition or term changed."""

import ast
import copy
from collections.abc import Iterator

OPERATOR_SWAPS = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}


def mutant_solutions(source: str) -> Iterator[tuple[str, str]]:
    """Yield what was changed, as "line: before -> after", and the code."""
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = {
        id(node): _names(function)
        for function in functions
        for node in ast.walk(function)
    }
    words = {id(node.body[0].value) for node in functions if ast.get_docstring(node)}
    for place, node in enumerate(nodes):
        if id(node) not in names or id(node) in words:
            continue
        for other in _others(node, names[id(node)]):
            changed = copy.deepcopy(tree)
            target = list(ast.walk(changed))[place]
            before = ast.unparse(target)
            if isinstance(other, ast.comprehension | ast.If):  # not an expression
                target.__dict__.update(other.__dict__)
            else:
                _replace(changed, target, other)
            line = (
                getattr(node, "lineno", None) or node.target.lineno
            )  # a comprehension has none
            yield f"{line}: {before} -> {ast.unparse(other)}", ast.unparse(changed)


def _names(function: ast.FunctionDef) -> set[str]:
    stored = (ast.Store, ast.Param)
    found = {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, stored)
    }
    return found | {argument.arg for argument in function.args.args}


def _others(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """Yield what may take a node's place."""
    match node:
        case ast.Compare(ops=[operator]):
            for swap in OPERATOR_SWAPS.get(type(operator), ()):
                yield _with(node, ops=[swap()])
        case ast.BinOp():
            for swap in OPERATOR_SWAPS.get(type(node.op), ()):
                yield _with(node, op=swap())
            yield from (node.left, node.right)
        case ast.BoolOp():
            for swap in OPERATOR_SWAPS[type(node.op)]:
                yield _with(node, op=swap())
            yield from node.values
        case ast.UnaryOp():
            yield node.operand
        case ast.If():
            yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
        case ast.comprehension(ifs=[_, *_]):
            yield _with(node, ifs=[])
            yield _with(node, ifs=[ast.UnaryOp(ast.Not(), node.ifs[0]), *node.ifs[1:]])
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=str() as value):
            yield ast.Constant(value + "x")
        case ast.Call(args=[first, *_], keywords=keywords):
            yield first
            for left_out in keywords:
                yield _with(
                    node, keywords=[one for one in keywords if one is not left_out]
                )
        case ast.Tuple(elts=[_, _, *_], ctx=ast.Load()):
            yield _with(node, elts=node.elts[::-1])
        case ast.Name(ctx=ast.Load()) if node.id in names:
            for name in sorted(names - {node.id}):
                yield ast.Name(name, ast.Load())


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _replace(tree: ast.AST, target: ast.AST, other: ast.AST) -> None:
    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return other if node is target else self.generic_visit(node)

    Put().visit(tree)
