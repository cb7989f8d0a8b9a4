package jsonview

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// diagnosticJSON is a diagnostic in the format of `terraform validate -json`.
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

// positionJSON counts lines and columns from one. Byte is missing if the file is not known.
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
	Values    lang.Facts `json:"values"` // what the expression refers to
}

// Configuration writes diagnostics of the configuration. Files are by file name, as in
// configs.Config.Files. Later problems refer to them.
func (e *Events) Configuration(diags hcl.Diagnostics, files map[string]*hcl.File) {
	if e == nil {
		return
	}
	e.mu.Lock()
	e.files = files
	e.mu.Unlock()
	for _, d := range diags {
		e.diagnostic(ofConfiguration(d, files))
	}
}

// Problems writes problems of a plan.
func (e *Events) Problems(problems []plans.Problem) {
	if e == nil {
		return
	}
	files := e.configured()
	for _, problem := range problems {
		e.diagnostic(ofProblem(problem, files))
	}
}

// Message writes an error or a warning without a place and without an object.
func (e *Events) Message(warning bool, summary, detail string) {
	if e != nil {
		e.diagnostic(&diagnosticJSON{Severity: severity(warning), Summary: summary, Detail: detail})
	}
}

// configured returns the files that Configuration got last.
func (e *Events) configured() map[string]*hcl.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.files
}

// diagnostic writes one diagnostic.
func (e *Events) diagnostic(d *diagnosticJSON) {
	d.Summary = report.Headline(d.Summary)
	level := "error"
	if d.Severity == "warning" {
		level = "warn"
	}
	e.write(event{Level: level, Type: "diagnostic", Message: words.Capital(d.Severity) + ": " + d.Summary, Diagnostic: d})
}

func severity(warning bool) string {
	if warning {
		return "warning"
	}
	return "error"
}

// ofConfiguration converts a diagnostic of the language.
func ofConfiguration(d *hcl.Diagnostic, files map[string]*hcl.File) *diagnosticJSON {
	out := &diagnosticJSON{Severity: severity(d.Severity == hcl.DiagWarning), Summary: d.Summary, Detail: d.Detail}
	if d.Subject == nil {
		return out
	}
	out.Range = &rangeJSON{Filename: d.Subject.Filename, Start: positionOf(d.Subject.Start), End: positionOf(d.Subject.End)}
	if lang.Quotable(d) {
		out.Snippet = snippetOf(*d.Subject, files[d.Subject.Filename])
		if out.Snippet != nil {
			out.Snippet.Values = append(out.Snippet.Values, lang.FactsOf(d)...)
		}
	}
	return out
}

func positionOf(p hcl.Pos) positionJSON {
	return positionJSON{Line: p.Line, Column: p.Column, Byte: &p.Byte}
}

// snippetOf quotes the lines of a range; nil for a file that may not be quoted.
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
		Values:    lang.Facts{},
	}
	if block := report.BlockAt(file, r.Start.Byte); block != "" {
		s.Context = &block
	}
	return s
}

// ofProblem converts a problem of a plan.
func ofProblem(problem plans.Problem, files map[string]*hcl.File) *diagnosticJSON {
	d := &diagnosticJSON{
		Severity: severity(problem.Warning),
		Summary:  problem.Summary,
		Detail:   problem.Detail,
		Range:    lineAt(problem.Source, files),
	}
	if problem.Address != (addrs.Object{}) {
		d.Address = problem.Address.String()
	}
	return d
}

// ofFailure converts an action that failed.
func ofFailure(f applied.Failed, files map[string]*hcl.File) *diagnosticJSON {
	return &diagnosticJSON{
		Severity: severity(false),
		Summary:  f.Reason,
		Detail:   strings.TrimSpace(f.Advice + "\n" + strings.Join(f.Detail, "\n")),
		Address:  f.Address.String(),
		Range:    lineAt(f.Source, files),
	}
}

// lineAt returns the whole line that a source such as "cloud.hcl:41" names.
func lineAt(source string, files map[string]*hcl.File) *rangeJSON {
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
	file := files[r.Filename]
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
