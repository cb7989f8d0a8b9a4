package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/planner/plans"
)

// Value writes a value as HCL, like Terraform's console and outputs. The same value always
// gives the same text. Words replace marked and unknown values; the result is then no
// expression.
func Value(v cty.Value) string {
	var b strings.Builder
	if isString(v) && hasLines(v.AsString()) {
		writeHeredoc(&b, v.AsString())
	} else {
		writeValue(&b, v, 0)
	}
	return b.String()
}

// Outputs prints outputs. Values of sensitive outputs are not shown.
func Outputs(out io.Writer, outputs []configs.Output) {
	for _, o := range outputs {
		if o.Sensitive {
			foreign.Fprintf(out, "%s = <sensitive>\n", o.Name)
			continue
		}
		fmt.Fprintln(out, foreign.Lines(o.Name+" = "+Value(o.Value)))
	}
}

// isString reports whether a value is a string that may be shown.
func isString(v cty.Value) bool {
	return !v.IsMarked() && v.IsKnown() && !v.IsNull() && v.Type() == cty.String
}

// PrintValue prints a value. The error is that of writing.
func PrintValue(out screen.Stream, v cty.Value) error {
	var lines []screen.Line
	for l := range strings.SplitSeq(Value(v), "\n") {
		lines = append(lines, screen.Text(l))
	}
	return out.Print(lines)
}

func writeValue(b *strings.Builder, v cty.Value, depth int) {
	if mark.Hidden(v) {
		b.WriteString(plans.Masked)
		return
	}
	offline := mark.WantsCluster(v)
	v, _ = v.Unmark()
	t := v.Type()
	switch {
	case !v.IsKnown() && offline:
		b.WriteString("(known only with a cluster)")
	case !v.IsKnown():
		b.WriteString(plans.Unknown)
	case v.IsNull():
		b.WriteString(null(t))
	case t.IsPrimitiveType():
		b.Write(hclwrite.TokensForValue(v).Bytes())
	case t.IsMapType():
		writeMembers(b, v, "tomap({", "})", depth)
	case t.IsObjectType():
		writeMembers(b, v, "{", "}", depth)
	case t.IsListType():
		writeMembers(b, v, "tolist([", "])", depth)
	case t.IsSetType():
		writeMembers(b, v, "toset([", "])", depth)
	case t.IsTupleType():
		writeMembers(b, v, "[", "]", depth)
	default:
		fmt.Fprintf(b, "(a value of type %s)", t.FriendlyName())
	}
}

// null returns a null of a type, wrapped in the conversion function of the type if there is one.
func null(t cty.Type) string {
	if t.IsPrimitiveType() {
		return fmt.Sprintf("to%s(null)", t.FriendlyName())
	}
	return "null"
}

// writeMembers writes the parts of a value, one per line, in the order of their keys. The order of
// a set depends only on its members.
func writeMembers(b *strings.Builder, v cty.Value, start, end string, depth int) {
	b.WriteString(start)
	const step = "  "
	named := v.Type().IsMapType() || v.Type().IsObjectType()
	for it := v.ElementIterator(); it.Next(); {
		key, member := it.Element()
		b.WriteString("\n" + strings.Repeat(step, depth+1))
		if named {
			b.Write(hclwrite.TokensForValue(key).Bytes())
			b.WriteString(" = ")
		}
		writeValue(b, member, depth+1)
		if !named {
			b.WriteString(",")
		}
	}
	if v.LengthInt() > 0 {
		b.WriteString("\n" + strings.Repeat(step, depth))
	}
	b.WriteString(end)
}

// hasLines reports whether a text can be written as a heredoc: HCL reads the same text again,
// indented or not, and the text contains no invisible characters.
func hasLines(s string) bool {
	flush := false
	for l := range strings.Lines(s) {
		l, ended := strings.CutSuffix(l, "\n")
		if !ended || strings.ContainsFunc(l, foreign.Hidden) || l != "" && strings.TrimSpace(l) == "" {
			return false
		}
		flush = flush || l != "" && l[0] != ' '
	}
	return flush
}

// writeHeredoc writes a text as indented lines, so that they cannot be mistaken for lines of kolla.
// The end marker is not a line of the text.
func writeHeredoc(b *strings.Builder, s string) {
	const step = "  "
	word := "EOT"
	for strings.Contains("\n"+s, "\n"+word+"\n") {
		word += "_"
	}
	b.WriteString("<<-" + word + "\n")
	for l := range strings.Lines(strings.NewReplacer("${", "$${", "%{", "%%{").Replace(s)) {
		if l != "\n" {
			b.WriteString(step)
		}
		b.WriteString(l)
	}
	b.WriteString(word)
}
