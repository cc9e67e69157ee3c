# Trains the demo on the plugin and fails unless it reaches an accuracy.
#
#   sh trains.sh FASHION DATA COUNT LEAST EPOCHS
#
# FASHION is the program, DATA the folder of Fashion-MNIST, COUNT the number of training images and
# of test images (0: all), LEAST the accuracy to reach. TENON_PLUGIN_PATH contains the plugin's
# folder.

set -eu
fashion=$1
data=$2
count=$3
least=$4
epochs=$5

# Prints the first `count` items of a file in IDX format, with a header for that number of items.
# Each item has $2 bytes. The file's header has $3 bytes and begins with the bytes $4, followed by
# the number of items.
first_of() {
  printf "$4"
  printf "\\$(printf %o $((count / 16777216)))\\$(printf %o $((count / 65536 % 256)))"
  printf "\\$(printf %o $((count / 256 % 256)))\\$(printf %o $((count % 256)))"
  gzip -dc "$data/$1" | tail -c +9 | head -c $(($3 - 8 + count * $2))
}

if [ "$count" != 0 ]; then
  mkdir -p images
  for set in train t10k; do
    first_of $set-images-idx3-ubyte.gz 784 16 '\0\0\010\003' | gzip -1 >images/$set-images-idx3-ubyte.gz
    first_of $set-labels-idx1-ubyte.gz 1 8 '\0\0\010\001' | gzip -1 >images/$set-labels-idx1-ubyte.gz
  done
  data=images
fi

"$fashion" --device plain_c --epochs "$epochs" --data "$data" | tee printed
grep -q '^training on plain_c:0 ' printed
sed -n 's/^test accuracy: //p' printed | awk -v least="$least" '{ found = $1 } END { exit !(found >= least) }'
