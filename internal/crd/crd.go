// Package crd says of a custom resource what an API server would make of it once it
// has the resource's definition: which fields it would drop, which it would fill in,
// and what it would find wrong. It is for definitions that no server has yet.
//
// What it does not know of: rules in CEL, conversion between versions, and
// admission. Rules are only told apart; see Schema.Rules.
package crd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Schema is what a definition says of its objects in one version.
type Schema struct {
	// Rules: there are rules in CEL, which only a server checks.
	Rules bool

	structural *schema.Structural
	// lenient is the schema by which an apply is read.
	lenient   *schema.Structural
	validator *validate.SchemaValidator
	// namespaced objects are in a namespace.
	namespaced bool
	// ownStatus: the status is written apart from the object, and dropped from it.
	ownStatus bool
}

// UnservedError says that a definition gives the cluster its kind only in other
// versions.
type UnservedError struct {
	Version string
	Served  []string
}

func (e *UnservedError) Error() string {
	return fmt.Sprintf("it does not serve version %s, only %s", e.Version, strings.Join(e.Served, ", "))
}

// Read finds the schema of a version in a CustomResourceDefinition (v1). It fails with
// an *UnservedError, or with what is wrong with the definition itself: that it cannot
// be read, or that its schema is not structural, which no server accepts.
func Read(definition *unstructured.Unstructured, version string) (*Schema, error) {
	var d apiextensionsv1.CustomResourceDefinition
	text, err := definition.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	v, err := served(&d, version)
	if err != nil {
		return nil, err
	}
	structural, err := structuralOf(v)
	if err != nil {
		return nil, err
	}
	lenient := structural.DeepCopy()
	loosen(lenient, false)
	return &Schema{
		lenient:    lenient,
		Rules:      hasRules(structural),
		structural: structural,
		validator:  validate.NewSchemaValidator(openAPIOf(structural), nil, "", strfmt.Default),
		namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped,
		ownStatus:  v.Subresources != nil && v.Subresources.Status != nil,
	}, nil
}

func served(d *apiextensionsv1.CustomResourceDefinition, version string) (*apiextensionsv1.CustomResourceDefinitionVersion, error) {
	other := &UnservedError{Version: version}
	for i := range d.Spec.Versions {
		v := &d.Spec.Versions[i]
		switch {
		case !v.Served:
		case v.Name == version:
			return v, nil
		default:
			other.Served = append(other.Served, v.Name)
		}
	}
	if len(other.Served) == 0 {
		return nil, errors.New("it serves no version")
	}
	return nil, other
}

func structuralOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (*schema.Structural, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", v.Name)
	}
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &props, nil)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s cannot be read: %w", v.Name, err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s is not structural: %w", v.Name, err)
	}
	if errs := schema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, fmt.Errorf("the schema of version %s is not structural: %w", v.Name, errs.ToAggregate())
	}
	return structural, nil
}

func hasRules(s *schema.Structural) bool {
	found := false
	visitor := schema.Visitor{
		Structural: func(s *schema.Structural) bool {
			found = found || len(s.XValidations) > 0
			return false
		},
		NestedValueValidation: func(v *schema.NestedValueValidation) bool {
			found = found || len(v.ValidationExtensions.XValidations) > 0
			return false
		},
	}
	visitor.Visit(s)
	return found
}

// Complete is the object as a server would keep it: without the fields that the
// schema does not have, and with the defaults of those that the object leaves out.
func (s *Schema) Complete(object *unstructured.Unstructured) *unstructured.Unstructured {
	whole := object.DeepCopy()
	pruning.Prune(whole.Object, s.structural, true)
	fillIn(whole.Object, s.structural)
	if s.ownStatus {
		delete(whole.Object, "status")
	}
	return whole
}

// fillIn sets the defaults below a value that the schema is of.
func fillIn(value any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name := range s.Properties {
			property := s.Properties[name]
			if _, there := value[name]; !there && property.Default.Object != nil {
				value[name] = property.Default.DeepCopy().Object
			}
		}
		for name, item := range value {
			if property, ok := s.Properties[name]; ok {
				fillIn(item, &property)
			} else if s.AdditionalProperties != nil {
				fillIn(item, s.AdditionalProperties.Structural)
			}
		}
	case []any:
		for _, item := range value {
			fillIn(item, s.Items)
		}
	}
}

// Unknown are the fields of a manifest that the schema does not have: those that a
// server refuses in what is applied, and the paths of those that it only drops, with a
// warning, because something above them may have any fields. Unknown fields of metadata
// are found by Check.
func (s *Schema) Unknown(manifest *unstructured.Unstructured) (refused field.ErrorList, dropped []string) {
	dropped = unknown(manifest, s.structural)
	for _, path := range unknown(manifest, s.lenient) {
		refused = append(refused, field.Forbidden(field.NewPath(path), "field not declared in schema")) // as an apply words it
		dropped = slices.DeleteFunc(dropped, func(d string) bool { return d == path })
	}
	return refused, dropped
}

func unknown(manifest *unstructured.Unstructured, s *schema.Structural) []string {
	return pruning.PruneWithOptions(manifest.DeepCopy().Object, s, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// loosen has all that is below a value that may have any fields have any, too.
func loosen(s *schema.Structural, loose bool) {
	if s == nil {
		return
	}
	s.XPreserveUnknownFields = s.XPreserveUnknownFields || loose
	loosen(s.Items, s.XPreserveUnknownFields)
	for name, property := range s.Properties {
		loosen(&property, s.XPreserveUnknownFields)
		s.Properties[name] = property
	}
	if s.AdditionalProperties != nil {
		loosen(s.AdditionalProperties.Structural, s.XPreserveUnknownFields)
	}
}

// Check says what is wrong with a complete object, all of it, sorted by path; empty:
// nothing that the schema knows of.
func (s *Schema) Check(object *unstructured.Unstructured) field.ErrorList {
	errs := s.checkMeta(object)
	errs = append(errs, s.checkValues(object)...)
	errs = append(errs, checkEmbedded(nil, object.Object, s.structural)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object.Object)...)
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}
