package main

import (
	"cmp"
	"encoding/json"
	"net/url"
	"runtime/debug"
	"strings"
)

// bill is a software bill of materials: https://cyclonedx.org/docs/1.6/json/. It has no
// serial number and no time, which would differ between two builds.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

// component is a module of Go.
type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Scope      string     `json:"scope,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// dependency lists the linked modules. A program does not record which module needs which.
type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOf lists the modules of a program, from the build information that the linker wrote into
// it.
func billOf(made *debug.BuildInfo, version string) ([]byte, error) {
	program := module(made.Main.Path, version, "")
	program.Type = "application"
	for _, setting := range made.Settings {
		if setting.Key == "GOOS" || setting.Key == "GOARCH" {
			program.Properties = append(program.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	listed := []component{module("std", strings.TrimPrefix(made.GoVersion, "go"), "")}
	for _, m := range made.Deps {
		m = cmp.Or(m.Replace, m)
		listed = append(listed, module(m.Path, m.Version, m.Sum))
	}
	links := dependency{Ref: program.Ref}
	for _, c := range listed {
		links.DependsOn = append(links.DependsOn, c.Ref)
	}
	text, err := json.MarshalIndent(bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{Component: program}, Components: listed, Dependencies: []dependency{links},
	}, "", "  ")
	return append(text, '\n'), err
}

// module describes a module; sum is the hash in go.sum. It is of the whole module, not of a
// file.
func module(path, version, sum string) component {
	c := component{Type: "library", Name: path, Version: version, Scope: "required"}
	c.PURL = "pkg:golang/" + path + "@" + url.PathEscape(version)
	c.Ref = c.PURL
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
