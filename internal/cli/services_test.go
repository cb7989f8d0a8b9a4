package cli

import (
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/catalogue"
	"kolla.openstack.org/kolla/providers/openstack"
)

func catalogued(t *testing.T) []catalogue.Definition {
	t.Helper()
	definitions, diags := catalogue.Describe(openstack.Catalogue())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return definitions
}

// TestPowersHaveReasons checks that the catalogue gives a reason for the powers of every container.
func TestPowersHaveReasons(t *testing.T) {
	for _, d := range catalogued(t) {
		for _, p := range d.Powers {
			if p.Reason == "" {
				t.Errorf("%s: %s %q has %s, and no reason", d.Name, p.Kind, p.Name, strings.Join(p.Powers, ", "))
			}
		}
	}
}

// servicesReference describes the services of the catalogue, with tables in Markdown.
func servicesReference(definitions []catalogue.Definition) string {
	var b strings.Builder
	b.WriteString(`# Services

Written by ` + "`make golden`" + ` from the definitions of the catalogue, which ` + "`kolla catalogue NAME`" + ` prints.

A service refers to others, some of them only where they are declared. An exposed port is
reached through the VIP. Powers are what a container may do beyond the Pod Security level
` + "`restricted`" + `.
`)
	for _, d := range definitions {
		if d.Abstract {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", d.Name, d.Description)
		facts := [][]string{{"Refers to", code(d.Needs...)}, {"Ports", portList(d.Ports)}, {"Workloads", workloadList(d.Workloads)}, {"Jobs", code(d.Jobs...)}, {"Databases", code(d.Databases...)}}
		table(&b, []string{"", ""}, facts)
		var inputs, registered, secrets, powers [][]string
		for _, i := range d.Inputs {
			value := "required"
			if i.Default != "" {
				value = code(i.Default)
			}
			inputs = append(inputs, []string{code(i.Name), code(i.Type), value, i.Description})
		}
		for _, r := range d.Registered {
			registered = append(registered, []string{r.Kind, code(r.Name), code(r.Arguments...)})
		}
		for _, s := range d.Secrets {
			secrets = append(secrets, []string{code(s.Name), s.Kind, s.Loss})
		}
		for _, p := range d.Powers {
			powers = append(powers, []string{p.Kind, code(p.Name), code(p.Powers...), p.Reason})
		}
		table(&b, []string{"Input", "Type", "Default", "Meaning"}, inputs)
		table(&b, []string{"Registered", "Name", "Arguments"}, registered)
		table(&b, []string{"Secret", "Kind", "When it is lost"}, secrets)
		table(&b, []string{"Powers of", "Name", "Which", "What they are for"}, powers)
	}
	return b.String()
}

// table writes rows. It omits rows of two cells whose second cell is empty.
func table(b *strings.Builder, head []string, rows [][]string) {
	var lines []string
	for _, row := range rows {
		if len(row) == 2 && row[1] == "" {
			continue
		}
		for i, cell := range row {
			row[i] = strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`)
		}
		lines = append(lines, "| "+strings.Join(row, " | ")+" |\n")
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n| %s |\n|%s\n%s", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)), strings.Join(lines, ""))
}

// code formats texts as code in Markdown.
func code(texts ...string) string {
	var out []string
	for _, text := range texts {
		out = append(out, "`"+text+"`")
	}
	return strings.Join(out, ", ")
}

func portList(ports []catalogue.Port) string {
	var out []string
	for _, p := range ports {
		text := fmt.Sprintf("`%s` %d", p.Name, p.Number)
		if p.Number == 0 {
			text = code(p.Name)
		}
		if p.Expose {
			text += " (exposed)"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func workloadList(workloads []catalogue.Workload) string {
	var out []string
	for _, w := range workloads {
		out = append(out, strings.TrimSpace(w.Kind+" "+code(w.Name)))
	}
	return strings.Join(out, ", ")
}
