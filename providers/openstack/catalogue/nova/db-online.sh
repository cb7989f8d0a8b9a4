# Moves data to where this release keeps them, in all cells. $1 is cells.sh, $2 the root
# directory, which tests have elsewhere.

root=$2
eval "$1"

for cell in cell0 $(more_cells) cell1; do
  in_cell "$cell" db online_data_migrations
done
