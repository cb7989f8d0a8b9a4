package view

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// diagnosticJSON is a diagnostic in the shape of `terraform validate -json`.
type diagnosticJSON struct {
	Severity string       `json:"severity"` // "error", "warning"
	Summary  string       `json:"summary"`
	Detail   string       `json:"detail"`
	Address  string       `json:"address,omitempty"` // of the object that it is about
	Range    *rangeJSON   `json:"range,omitempty"`
	Snippet  *snippetJSON `json:"snippet,omitempty"`
}

// rangeJSON is a place in a configuration file.
type rangeJSON struct {
	Filename string       `json:"filename"`
	Start    positionJSON `json:"start"`
	End      positionJSON `json:"end"`
}

// positionJSON counts lines and columns from one. The byte is left out where the
// file is not at hand.
type positionJSON struct {
	Line   int  `json:"line"`
	Column int  `json:"column"`
	Byte   *int `json:"byte,omitempty"`
}

// snippetJSON quotes the configuration. The offsets are bytes within Code.
type snippetJSON struct {
	Context   *string    `json:"context"` // the block: `service "keystone"`
	Code      string     `json:"code"`
	StartLine int        `json:"start_line"`
	Start     int        `json:"highlight_start_offset"`
	End       int        `json:"highlight_end_offset"`
	Values    []factJSON `json:"values"` // what the expression refers to
}

// factJSON says what something stood for; see lang.Fact.
type factJSON struct {
	Reference string `json:"traversal"`
	Statement string `json:"statement"`
}

// diagnostic writes one.
func (e *events) diagnostic(d *diagnosticJSON) {
	d.Summary = headline(d.Summary)
	level := "error"
	if d.Severity == "warning" {
		level = "warn"
	}
	e.write(event{Level: level, Type: "diagnostic", Message: sentenceCase(d.Severity) + ": " + d.Summary, Diagnostic: d})
}

func severity(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// ofConfiguration is a diagnostic of the language.
func ofConfiguration(d *hcl.Diagnostic, files map[string]*hcl.File) *diagnosticJSON {
	out := &diagnosticJSON{Severity: severity(d.Severity == hcl.DiagWarning), Summary: d.Summary, Detail: d.Detail}
	if d.Subject == nil {
		return out
	}
	out.Range = &rangeJSON{Filename: d.Subject.Filename, Start: positionOf(d.Subject.Start), End: positionOf(d.Subject.End)}
	if lang.Quotable(d) {
		out.Snippet = snippetOf(*d.Subject, files[d.Subject.Filename])
		if out.Snippet != nil {
			for _, f := range lang.FactsOf(d) {
				out.Snippet.Values = append(out.Snippet.Values, factJSON(f))
			}
		}
	}
	return out
}

func positionOf(p hcl.Pos) positionJSON {
	return positionJSON{Line: p.Line, Column: p.Column, Byte: &p.Byte}
}

// snippetOf quotes the lines of a range; nil where the file is not one that may be
// quoted.
func snippetOf(r hcl.Range, file *hcl.File) *snippetJSON {
	if file == nil || r.Start.Byte > len(file.Bytes) {
		return nil
	}
	end := min(max(r.End.Byte, r.Start.Byte), len(file.Bytes))
	from := bytes.LastIndexByte(file.Bytes[:r.Start.Byte], '\n') + 1
	to := len(file.Bytes)
	if i := bytes.IndexByte(file.Bytes[end:], '\n'); i >= 0 {
		to = end + i
	}
	s := &snippetJSON{
		Code:      string(file.Bytes[from:to]),
		StartLine: r.Start.Line,
		Start:     r.Start.Byte - from,
		End:       end - from,
		Values:    []factJSON{},
	}
	if block := blockAt(file, r.Start.Byte); block != "" {
		s.Context = &block
	}
	return s
}

// ofProblem is a problem of a plan.
func (p *Printer) ofProblem(problem plans.Problem) *diagnosticJSON {
	d := &diagnosticJSON{
		Severity: severity(problem.Warning),
		Summary:  problem.Summary,
		Detail:   problem.Detail,
		Range:    p.lineAt(problem.Source),
	}
	if problem.Address != (addrs.Object{}) {
		d.Address = problem.Address.String()
	}
	return d
}

// ofFailure is an action that failed.
func (p *Printer) ofFailure(f Failed) *diagnosticJSON {
	return &diagnosticJSON{
		Severity: severity(false),
		Summary:  f.Reason,
		Detail:   strings.TrimSpace(f.Advice + "\n" + strings.Join(f.Detail, "\n")),
		Address:  f.Address.String(),
		Range:    p.lineAt(f.Source),
	}
}

// lineAt is the whole line that a source such as "cloud.hcl:41" names.
func (p *Printer) lineAt(source string) *rangeJSON {
	i := strings.LastIndexByte(source, ':')
	if i < 0 {
		return nil
	}
	number, err := strconv.Atoi(source[i+1:])
	if err != nil || number < 1 {
		return nil
	}
	r := &rangeJSON{
		Filename: source[:i],
		Start:    positionJSON{Line: number, Column: 1},
		End:      positionJSON{Line: number, Column: 1},
	}
	file := p.files[r.Filename]
	if file == nil {
		return r
	}
	offset := 0
	for n, content := range bytes.Split(file.Bytes, []byte("\n")) {
		if n+1 == number {
			end := offset + len(content)
			r.Start.Byte, r.End.Byte, r.End.Column = &offset, &end, len([]rune(string(content)))+1
			return r
		}
		offset += len(content) + 1
	}
	return r
}

// sentenceCase makes a phrase start like a sentence.
func sentenceCase(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if first == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
