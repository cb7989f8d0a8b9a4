package annotations

import (
	"io"
	"net/url"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifVersion = "2.1.0"
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool     sarifTool     `json:"tool"`
	Language string        `json:"language"`
	Columns  string        `json:"columnKind"`
	Results  []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name     string      `json:"name"`
	Version  string      `json:"version,omitempty"`
	Language string      `json:"language"`
	Rules    []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID string `json:"id"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	Rule         string            `json:"ruleId"`
	Index        int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn,omitempty"`
}

// sarif writes a log of the Static Analysis Results Interchange Format 2.1.0.
func sarif(w io.Writer, notes []note, version string) error {
	run := sarifRun{
		Tool:     sarifTool{sarifDriver{Name: "kolla", Version: version, Language: "en", Rules: []sarifRule{}}},
		Language: "en", Columns: "unicodeCodePoints", Results: []sarifResult{},
	}
	rules := map[string]int{}
	prints := fingerprints(notes)
	for i, n := range notes {
		id := n.rule()
		if _, known := rules[id]; !known {
			rules[id] = len(rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id})
		}
		r := sarifResult{
			Rule: id, Index: rules[id], Level: "error", Message: sarifText{n.message()},
			Fingerprints: map[string]string{"kolla/v1": prints[i]},
		}
		if n.warning {
			r.Level = "warning"
		}
		if p := n.place; p.file != "" {
			r.Locations = []sarifLocation{{sarifPhysical{
				Artifact: sarifArtifact{(&url.URL{Path: p.file}).EscapedPath(), "%SRCROOT%"},
				Region:   sarifRegion{p.line, p.col, p.endLine, p.endCol},
			}}}
		}
		run.Results = append(run.Results, r)
	}
	return foreign.JSON(w, sarifLog{sarifSchema, sarifVersion, []sarifRun{run}}, "  ")
}
